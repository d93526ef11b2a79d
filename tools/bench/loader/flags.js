import { isLoopback } from '../../../common/addresses.js';
import { MillraceError } from '../../../common/errors.js';
import { parseFlags, usageError } from '../../../common/flags.js';
import { parseTime } from '../../../common/times.js';
import { bucketOf, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.js';
import { SIGNALS } from './data-set.js';

/** @import { CommandLine, Flag } from '../../../common/flags.js' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { SignalKind } from './data-set.js' */

/** Where a data set can go. */
export const TARGETS = /** @type {const} */ (['history', 'batches', 'rows']);

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  seed: { type: 'integer', help: 'the same seed and flags write the same samples', fallback: 1, min: 0 },
  devices: { type: 'integer', help: 'how many', fallback: 1, min: 1 },
  sensors: { type: 'integer', help: 'of each device', fallback: 1, min: 1 },
  interval: { type: 'duration', help: 'between two samples of a sensor', fallback: 1000, min: 1 },
  jitter: { type: 'duration', help: 'a clock is off by so much at most', fallback: 20 },
  from: {
    type: 'text',
    help: 'first hour, ISO 8601 or epoch ms; default so that it ends with the last closed hour',
  },
  days: { type: 'number', help: 'how long', fallback: 30, min: 1 / 24 },
  signal: { type: 'text', help: SIGNALS.join(' | '), fallback: 'decimals' },
  into: { type: 'text', help: TARGETS.join(' | '), fallback: 'history' },
  batch: {
    type: 'integer',
    help: 'samples of a sensor in a message, for batches and rows',
    fallback: 60,
    min: 1,
  },
  force: { type: 'switch', help: 'load into a cluster that is not on this machine' },
};

const COMMAND = 'npm run load --';

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: COMMAND,
  help: 'Writes a large data set, the same for the same flags, for everything that reads.',
  examples: [
    `${COMMAND} --devices 10 --sensors 4 --days 30`,
    `${COMMAND} --into batches --interval 1s --batch 60 --days 2`,
  ],
  flags: FLAGS,
};

/**
 * @param {string[]} argv without node and script
 * @param {number} now epoch ms
 * @throws {MillraceError} `usage`
 */
export function readFlags(argv, now) {
  const flags = parseFlags(LINE, argv);
  const length = Math.round((flags.days * 24 * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const closed = bucketOf(now) - PACK_DELAY_MS;
  const from = flags.from === undefined ? closed - length : parseTime(flags.from);
  const to = Number(from) + length;
  const problems = [
    ...(from === null ? ['--from takes a time'] : []),
    ...(from !== null && from !== bucketOf(from) ? ['--from is the start of an hour'] : []),
    ...(to > closed
      ? [`--days: history ends with the last closed hour, ${new Date(closed).toISOString()}`]
      : []),
    ...(flags.interval > HOUR_MS ? ['--interval is an hour at most'] : []),
    ...(2 * flags.jitter >= flags.interval ? ['--jitter is less than half of --interval'] : []),
    ...oneOf('signal', flags.signal, SIGNALS),
    ...oneOf('into', flags.into, TARGETS),
  ];
  if (problems.length > 0) throw usageError(COMMAND, problems);
  const { seed, signal, interval, jitter, devices, sensors, into, batch, force } = flags;
  return {
    set: {
      seed,
      signal: /** @type {SignalKind} */ (signal),
      intervalMs: interval,
      jitterMs: jitter,
      from: Number(from),
      to,
    },
    fleet: { seed, devices, sensors },
    into: /** @type {typeof TARGETS[number]} */ (into),
    /** @type {number} */ batch,
    force: Boolean(force),
  };
}

/** @param {string} name @param {string} value @param {readonly string[]} allowed @returns {string[]} what is wrong */
const oneOf = (name, value, allowed) =>
  allowed.includes(value) ? [] : [`--${name} is one of ${allowed.join(', ')}`];

/**
 * A data set made up belongs on a machine of one's own: it cannot be taken out again.
 *
 * @param {Config['cql']} cql
 * @param {boolean} force
 * @throws {MillraceError} `usage`, naming the addresses
 */
export function checkCluster({ contactPoints }, force) {
  const away = (contactPoints ?? []).filter((address) => !isLoopback(hostOf(address)));
  if (away.length === 0 || force) return;
  throw new MillraceError(
    'usage',
    `CQL_CONTACT_POINTS=${away.join(',')} is not this machine. Loaded data stays until it expires. Set --force to load it anyway.`,
  );
}

/** @param {string} address `host[:port]`, an IPv6 host in brackets where a port follows */
const hostOf = (address) =>
  /^[^:]*:\d+$/.test(address) ? address.slice(0, address.indexOf(':')) : address.replace(/\]:\d+$/, ']');
