import { type CommandLine, type Flag, parseFlags, usageError } from '../../common/flags.ts';
import { namesOf } from '../../schema/migrate/installation.ts';
import {
  DAY_MS,
  MAX_SAMPLES_PER_MESSAGE,
  MAX_SENSORS_PER_DEVICE,
  MIN_BATCH_DAYS,
  partitionPerHour,
} from '../../schema/rules.ts';
import { bytesText, countText, groupsFor } from '../../schema/sizes.ts';
import { MAX_TTL_SECONDS } from '../../schema/time-window.ts';
import { textTable } from '../bench/report/table.ts';
import { CONSTANTS, NODES, needsOf, type Plan, samplesPerMessage } from './formula.ts';

const FLAGS = {
  sensors: { type: 'number', help: 'sensors of the fleet', fallback: 1e6, min: 1 },
  'sensors-per-device': { type: 'integer', help: 'all of them in every message', fallback: 10, min: 1 },
  assets: { type: 'integer', help: 'assets of the tree; default none', fallback: 0, min: 0 },
  'asset-types': {
    type: 'integer',
    help: 'types of sensors below an asset, on average',
    fallback: 4,
    min: 1,
  },
  interval: { type: 'duration', help: 'between two samples of a sensor', fallback: 1000, min: 1 },
  batch: { type: 'duration', help: 'between two messages of a device', fallback: 60_000, min: 1 },
  retention: { type: 'duration', help: 'of batches, BATCH_DAYS', fallback: 30 * DAY_MS },
  history: { type: 'duration', help: 'of history, HISTORY_DAYS', fallback: 365 * DAY_MS },
  signal: { type: 'text', help: 'decimals or full (doubles), which compress worse', fallback: 'decimals' },
  replication: { type: 'integer', help: 'copies of everything', fallback: 3, min: 1 },
  node: { type: 'text', help: 'EC2 type of the database nodes', fallback: 'i8g.2xlarge' },
  'node-vcpu': { type: 'integer', help: 'vCPUs of a node; default as the type has them', min: 1 },
  'node-disk': { type: 'number', help: 'GB of a node; default as the type has them', min: 1 },
} satisfies Record<string, Flag>;

const COMMAND = 'npm run size --';

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: 'Prints what a fleet needs: ingest processes, nodes, disks and settings.',
  examples: [
    `${COMMAND} --sensors 1e6 --interval 1s --batch 60s`,
    `${COMMAND} --sensors 1e6 --assets 100000 --asset-types 4`,
    `${COMMAND} --node i7i.4xlarge --retention 10d --history 2y`,
  ],
  flags: FLAGS,
};

/** @throws {MillraceError} `usage`: the message lists every problem */
export function readPlan(argv: string[]): Plan {
  const flags = parseFlags(LINE, argv);
  const fleet = {
    sensors: flags.sensors,
    sensorsPerDevice: flags['sensors-per-device'],
    intervalMs: flags.interval,
    batchMs: flags.batch,
    batchDays: flags.retention / DAY_MS,
    historyDays: flags.history / DAY_MS,
  };
  const type = NODES[flags.node];
  const vcpus = flags['node-vcpu'] ?? type?.vcpus ?? 0;
  const diskBytes = flags['node-disk'] === undefined ? (type?.diskBytes ?? 0) : flags['node-disk'] * 1e9;
  const inMessage = samplesPerMessage(fleet) * fleet.sensorsPerDevice;
  const problems = (
    [
      [fleet.sensors < fleet.sensorsPerDevice, '--sensors is fewer than one device has'],
      [
        fleet.sensorsPerDevice > MAX_SENSORS_PER_DEVICE,
        `--sensors-per-device is ${MAX_SENSORS_PER_DEVICE} at most`,
      ],
      [
        inMessage > MAX_SAMPLES_PER_MESSAGE,
        `${inMessage} samples in a message; ${MAX_SAMPLES_PER_MESSAGE} are the most`,
      ],
      [
        !isDays(fleet.batchDays, MIN_BATCH_DAYS, MAX_BATCH_DAYS),
        `--retention is whole days, ${MIN_BATCH_DAYS} to ${MAX_BATCH_DAYS}`,
      ],
      [
        !isDays(fleet.historyDays, fleet.batchDays, MAX_TTL_SECONDS / 86_400),
        '--history is whole days, not fewer than --retention, 20 years at most',
      ],
      [!['decimals', 'full'].includes(flags.signal), '--signal is decimals or full'],
      [
        !vcpus || !diskBytes,
        `--node is one of ${Object.keys(NODES).join(', ')}; or set --node-vcpu and --node-disk`,
      ],
    ] as Array<[boolean, string]>
  ).flatMap(([wrong, label]) => (wrong ? [label] : []));
  if (problems.length > 0) throw usageError(COMMAND, problems);
  const signal = flags.signal as Plan['signal'];
  const tree = { assets: flags.assets, types: flags['asset-types'] };
  return { fleet, tree, signal, replication: flags.replication, node: { vcpus, diskBytes } };
}

const MAX_BATCH_DAYS = 3650;

const isDays = (days: number, least: number, most: number) =>
  Number.isInteger(days) && days >= least && days <= most;

export function reportOf(plan: Plan): string {
  const { fleet, tree, replication, node } = plan;
  const needs = needsOf(plan);
  const partition = partitionPerHour({ ...fleet, sensors: fleet.sensorsPerDevice });
  const all = { vcpus: needs.nodes * node.vcpus, diskBytes: needs.nodes * node.diskBytes };
  const { vcpus, terabytes } = CONSTANTS.license.values;
  const isFree = all.vcpus <= vcpus && all.diskBytes <= terabytes * 1e12;
  const settings = namesOf({ latestGroups: groupsFor(fleet.sensors), ...fleet });
  return [
    textTable(
      ['', 'needed'],
      [
        ['samples/s', countText(needs.samples)],
        ['messages/s', countText(needs.messages)],
        ['cores of the broker, as Mosquitto', countText(needs.brokers)],
        ['ingest processes', countText(needs.processes)],
        ['largest partition of messages', `${countText(partition.rows)} rows, ${bytesText(partition.bytes)}`],
        ['partitions', countText(needs.partitions)],
        ['stored, one copy', bytesText(needs.bytes)],
        ...(tree.assets > 0
          ? [[`roll-ups of ${countText(tree.assets)} assets, in it`, bytesText(needs.rollUpBytes)]]
          : []),
        ['stored, all copies', bytesText(needs.bytes * replication)],
        ['vCPUs busy in the database', countText(needs.cores.database)],
        ['nodes by CPU', countText(needs.byCpu)],
        ['nodes by disk', countText(needs.byDisk)],
        ['nodes', countText(needs.nodes)],
        ['their vCPUs', countText(all.vcpus)],
        ['their disks', bytesText(all.diskBytes)],
        ["ScyllaDB's free license", isFree ? 'enough' : 'not enough'],
      ],
    ),
    'For .env of every process, before the first migration, which fixes LATEST_GROUPS for ever:',
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  ].join('\n\n');
}
