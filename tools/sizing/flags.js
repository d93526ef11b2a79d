import { parseFlags, usageError } from '../../common/flags.js';
import {
  DAY_MS,
  MAX_SAMPLES_PER_MESSAGE,
  MAX_SENSORS_PER_DEVICE,
  MAX_TTL_SECONDS,
  MIN_BATCH_DAYS,
} from '../../schema/rules.js';
import { NODES } from './rules.js';
import { samplesPerMessage } from './traffic.js';

/** @import { CommandLine, Flag } from '../../common/flags.js' */
/** @import { Parts } from './formula.js' */
/** @import { Fleet } from './traffic.js' */

/** BATCH_DAYS goes no further. */
const MOST_BATCH_DAYS = 3650;

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  sensors: { type: 'number', help: 'sensors of the fleet', fallback: 1e6, min: 1 },
  'sensors-per-device': { type: 'integer', help: 'all of them in every message', fallback: 10, min: 1 },
  interval: { type: 'duration', help: 'between two samples of a sensor', fallback: 1000, min: 1 },
  batch: { type: 'duration', help: 'between two messages of a device', fallback: 60_000, min: 1 },
  retention: { type: 'duration', help: 'of batches, BATCH_DAYS', fallback: 30 * DAY_MS },
  history: { type: 'duration', help: 'of history, HISTORY_DAYS', fallback: 365 * DAY_MS },
  births: { type: 'duration', help: 'time until a device connects again', fallback: DAY_MS, min: 1000 },
  signal: {
    type: 'text',
    help: 'decimals or full (doubles): how well samples compress',
    fallback: 'decimals',
  },
  replication: { type: 'integer', help: 'copies of everything', fallback: 3, min: 1 },
  node: { type: 'text', help: 'EC2 type of the database nodes', fallback: 'i8g.2xlarge' },
  'node-vcpu': { type: 'integer', help: 'vCPUs of a node; default as the type has them', min: 1 },
  'node-disk': { type: 'number', help: 'GB of a node; default as the type has them', min: 1 },
  headroom: { type: 'number', help: 'share of all CPUs that is kept free', fallback: 0.5, min: 0 },
  fill: { type: 'number', help: 'share of the disks that may be filled', fallback: 0.7, min: 0.01 },
  'devices-per-connection': { type: 'integer', help: 'more than 1 behind gateways', fallback: 1, min: 1 },
};

const COMMAND = 'npm run size --';

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: COMMAND,
  help: 'Prints what a fleet needs: writes, nodes, disks and processes.',
  examples: [
    `${COMMAND} --sensors 1e6 --interval 1s --batch 60s`,
    `${COMMAND} --node i7i.4xlarge --retention 10d --history 2y`,
  ],
  flags: FLAGS,
};

/**
 * @param {string[]} argv without node and script
 * @returns {{ fleet: Fleet, parts: Parts }}
 * @throws {MillraceError} `usage`, with every problem
 */
export function readFlags(argv) {
  const flags = parseFlags(LINE, argv);
  const type = NODES[flags.node];
  const node = {
    vcpus: flags['node-vcpu'] ?? type?.vcpus ?? 0,
    diskBytes: flags['node-disk'] === undefined ? (type?.diskBytes ?? 0) : flags['node-disk'] * 1e9,
  };
  const fleet = {
    sensors: flags.sensors,
    sensorsPerDevice: flags['sensors-per-device'],
    intervalMs: flags.interval,
    batchMs: flags.batch,
    batchDays: flags.retention / DAY_MS,
    historyDays: flags.history / DAY_MS,
    bornEveryMs: flags.births,
  };
  const problems = problemsOf(fleet, flags);
  if (!node.vcpus || !node.diskBytes)
    problems.push(`--node is one of ${Object.keys(NODES).join(', ')}; or set --node-vcpu and --node-disk`);
  if (problems.length > 0) throw usageError(COMMAND, problems);
  return {
    fleet,
    parts: {
      node,
      replication: flags.replication,
      headroom: flags.headroom,
      fill: flags.fill,
      devicesPerConnection: flags['devices-per-connection'],
      signal: /** @type {Parts['signal']} */ (flags.signal),
    },
  };
}

/** @param {Fleet} fleet @param {Record<string, any>} flags @returns {string[]} */
function problemsOf(fleet, { signal, headroom, fill }) {
  const samples = samplesPerMessage(fleet) * fleet.sensorsPerDevice;
  const most = MAX_TTL_SECONDS / 86_400;
  return /** @type {Array<[boolean, string]>} */ ([
    [fleet.sensors < fleet.sensorsPerDevice, '--sensors is fewer than one device has'],
    [
      fleet.sensorsPerDevice > MAX_SENSORS_PER_DEVICE,
      `--sensors-per-device is ${MAX_SENSORS_PER_DEVICE} at most`,
    ],
    [
      samples > MAX_SAMPLES_PER_MESSAGE,
      `${samples} samples in a message; ${MAX_SAMPLES_PER_MESSAGE} are the most`,
    ],
    [
      !isDays(fleet.batchDays, MIN_BATCH_DAYS, MOST_BATCH_DAYS),
      `--retention is whole days, ${MIN_BATCH_DAYS} to ${MOST_BATCH_DAYS}`,
    ],
    [
      !isDays(fleet.historyDays, fleet.batchDays, most),
      '--history is whole days, not fewer than --retention, 20 years at most',
    ],
    [!['decimals', 'full'].includes(signal), '--signal is decimals or full'],
    [headroom >= 1, '--headroom is below 1'],
    [fill > 1, '--fill is 1 at most'],
  ]).flatMap(([wrong, label]) => (wrong ? [label] : []));
}

/** @param {number} days @param {number} least @param {number} most */
const isDays = (days, least, most) => Number.isInteger(days) && days >= least && days <= most;
