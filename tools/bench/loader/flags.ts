import { isLoopback } from '../../../common/addresses.ts';
import { MillraceError } from '../../../common/errors.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../../../common/flags.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DATABASE_SETTINGS } from '../../../common/settings/index.ts';
import { bucketOf, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import type { DataSet } from './build.ts';
import { TREE_LEVELS } from './data-set.ts';

/** Maximum deviation of a sample from its regular time. */
const JITTER_MS = 20;

/** With a shorter interval, the jitter could move a sample out of its interval. */
const SHORTEST_MS = 2 * JITTER_MS + 1;

const FLAGS = {
  seed: { type: 'integer', help: 'the same seed and flags write the same samples', fallback: 1, min: 0 },
  devices: { type: 'integer', help: 'how many', fallback: 1, min: 1 },
  sensors: { type: 'integer', help: 'of each device', fallback: 1, min: 1 },
  interval: { type: 'duration', help: 'between two samples of a sensor', fallback: 1000, min: SHORTEST_MS },
  tree: { type: 'text', help: 'assets on each level below the one before, such as 4x10x25; default none' },
  days: { type: 'number', help: 'how long, until the last closed hour', fallback: 30, min: 1 / 24 },
  force: { type: 'switch', help: 'load into a cluster that is not on this machine' },
} satisfies Record<string, Flag>;

const COMMAND = 'npm run load --';

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: 'Writes a large data set, the same for the same flags, for everything that reads.',
  examples: [
    `${COMMAND} --devices 10 --sensors 4 --days 30`,
    `${COMMAND} --devices 100000 --tree 10x10x20x50 --days 1`,
  ],
  flags: FLAGS,
  settings: DATABASE_SETTINGS,
};

/** @param now epoch ms @throws {MillraceError} `usage` */
export function readFlags(argv: string[], now: number) {
  const flags = parseFlags(LINE, argv);
  const { seed, days, interval, devices, sensors, force } = flags;
  const to = bucketOf(now) - PACK_DELAY_MS;
  if (interval > HOUR_MS) throw usageError(COMMAND, ['--interval is an hour at most']);
  const tree = flags.tree === undefined ? [] : readTree(flags.tree);
  const set: DataSet = {
    seed,
    signal: 'decimals',
    intervalMs: interval,
    jitterMs: JITTER_MS,
    from: to - Math.round(days * 24) * HOUR_MS,
    to,
  };
  return { set, fleet: { seed, devices, sensors, tree }, force: Boolean(force) };
}

function readTree(text: string): number[] {
  const counts = text.split('x').map(Number);
  const isValid = counts.every((count) => Number.isInteger(count) && count >= 1);
  if (!isValid || counts.length > TREE_LEVELS.length)
    throw usageError(COMMAND, [`--tree is up to ${TREE_LEVELS.length} whole numbers, such as 4x10x25`]);
  let [row, assets] = [1, 0];
  for (const count of counts) {
    row *= count;
    assets += row;
  }
  if (assets > MAX_ASSETS)
    throw usageError(COMMAND, [`--tree has ${assets} assets; ${MAX_ASSETS} are the most`]);
  return counts;
}

/** Sites of devices create no more. */
const MAX_ASSETS = 200_000;

/**
 * On other machines, loaded data cannot be removed. It stays until it expires.
 * @throws {MillraceError} `usage`: the message names the addresses
 */
export function checkCluster({ contactPoints }: Config['cql'], force: boolean) {
  const away = (contactPoints ?? []).filter((address) => !isLoopback(hostOf(address)));
  if (away.length === 0 || force) return;
  throw new MillraceError(
    'usage',
    `CQL_CONTACT_POINTS=${away.join(',')} is not this machine. Loaded data stays until it expires. Set --force to load it anyway.`,
  );
}

/** @param address `host[:port]`; an IPv6 host is in brackets if a port follows */
const hostOf = (address: string) =>
  /^[^:]*:\d+$/.test(address) ? address.slice(0, address.indexOf(':')) : address.replace(/\]:\d+$/, ']');
