import { MillraceError } from '../../common/errors.ts';
import { type Flag, parseFlags, usageError } from '../../common/flags.ts';
import { DATABASE_SETTINGS } from '../../common/settings/index.ts';
import type { Step } from './plan.ts';
import { expectService } from './steps/service.ts';

/** Flags, and values derived from them. */
interface Known {
  engine: 'scylla' | 'cassandra';
  keyspace: string;
  /** name of the backup or task; default: the current time */
  tag: string;
  /** counted from 1 */
  from: number;
  /** runs a script on a node, as `ssh` does */
  reach: string;
  /** ms, for each wait */
  within: number;
  need: Need;
  /** replaced by `--stop` and `--start` where these flags are given */
  commands: <T extends { stop?: string; start?: string }>(service: T) => T;
}

/** A flag with a fallback has a value in each operation that takes it. */
interface Own {
  'dry-run'?: boolean;
  'rewrite-sstables'?: boolean;
  broker?: string;
  check?: boolean;
  cluster?: string;
  config?: string;
  cron: string;
  data: string;
  dead?: string;
  deliver?: string;
  install?: string;
  into?: string;
  ledger?: string;
  location?: string;
  node?: string;
  now?: boolean;
  ready: string;
  restart: string;
  retention: number;
}

export type Given = Own & Known;

type Read = Own &
  Pick<Known, 'keyspace' | 'from' | 'reach' | 'within'> &
  Record<'engine' | 'tag' | 'nodes', string | undefined>;

export interface Operation {
  help: string;
  /** arguments after the name of the operation */
  examples: [string, ...string[]];
  /** shared with other operations */
  shared: (keyof typeof SHARED)[];
  flags: Record<string, Flag>;
  plan: (given: Given) => Step[] | Promise<Step[]>;
}

/** @throws `usage` if the flag was not given */
type Need = { (flag: 'nodes'): [string, ...string[]]; (flag: string): string };

const SHARED = {
  engine: { type: 'text', help: 'scylla or cassandra', fallback: 'scylla' },
  cluster: { type: 'text', help: 'ScyllaDB: name of the cluster in Manager' },
  nodes: { type: 'text', help: 'the nodes, comma-separated, as --reach takes them' },
  reach: {
    type: 'text',
    help: "program that takes a node and a script for its shell; 'sh infra/operations/reach/compose.sh' for containers",
    fallback: 'ssh',
  },
  keyspace: { type: 'text', help: 'CQL_KEYSPACE', fallback: 'iot' },
  tag: { type: 'text', help: 'name of a snapshot, a backup or a task; default: the time' },
  stop: { type: 'text', help: 'command that stops what runs on a node; default: by systemctl' },
  start: { type: 'text', help: 'command that starts it; default: by systemctl' },
  within: {
    type: 'duration',
    help: 'how long each wait for a node may take',
    fallback: 1_800_000,
    min: 1000,
  },
} satisfies Record<string, Flag>;

const COMMON = {
  from: { type: 'integer', help: 'starts with this step; the steps before it are done', fallback: 1, min: 1 },
  'dry-run': { type: 'switch', help: 'prints the commands as a script, and runs none' },
} satisfies Record<string, Flag>;

/** Pattern of flag values that become part of paths, task names and commands. A value that begins with `-` would be read as an option. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$/;
const CHECKED = ['cluster', 'location', 'keyspace', 'tag', 'into', 'to', 'node', 'dead', 'client-id'];

/** @throws `usage`, `help` */
export function readGiven(command: string, operation: Operation, argv: string[], now: Date): Given {
  const values: Record<string, unknown> = parseFlags(
    {
      command,
      help: operation.help,
      examples: operation.examples.map((words) => `${command} ${words}`) as [string, ...string[]],
      flags: flagsOf(operation),
      settings: DATABASE_SETTINGS,
    },
    argv,
  );
  const flags = values as unknown as Read;
  const { engine = 'scylla', tag, keyspace, from, reach, within } = flags;
  if (engine !== 'scylla' && engine !== 'cassandra')
    throw usageError(command, ['--engine is scylla or cassandra']);
  const nodes = flags.nodes?.split(',').filter(Boolean);
  for (const name of CHECKED) expectSafe(command, name, values[name]);
  for (const node of nodes ?? []) expectSafe(command, 'nodes', node);
  function need(flag: 'nodes'): [string, ...string[]];
  function need(flag: string): string;
  function need(flag: string): string | string[] {
    const value = flag === 'nodes' ? nodes : values[flag];
    if ((typeof value === 'string' || Array.isArray(value)) && value.length > 0) return value;
    throw usageError(command, [`${command} needs --${flag}`]);
  }
  return {
    ...flags,
    ...{ engine, keyspace, from, reach, within, need },
    tag: tag ?? timeTag(now),
    commands(service) {
      const ours = Object.entries(service).map(([name, command]) => [name, values[name] ?? command]);
      if (Object.keys(service).some((name) => values[name] === undefined)) expectService(reach);
      return Object.fromEntries(ours) as typeof service;
    },
  };
}

const flagsOf = ({ shared, flags }: Operation) => ({
  ...Object.fromEntries(shared.map((name) => [name, SHARED[name]])),
  ...flags,
  ...COMMON,
});

/** `--nodes` must name only the other nodes. */
export function expectOther({ need, node }: Given) {
  if (node === undefined || !need('nodes').includes(node)) return;
  throw new MillraceError('usage', `--node ${node} is one of --nodes: those are the others, without it`);
}

function expectSafe(command: string, flag: string, value: unknown) {
  if (typeof value !== 'string' || SAFE.test(value)) return;
  throw usageError(command, [`--${flag}: "${value}" is no name: use a-z, A-Z, 0-9 and _ . : @ -`]);
}

/** @returns UTC time such as 20261122T0200 */
const timeTag = (now: Date): string => now.toISOString().slice(0, 16).replaceAll(/[-:]/g, '');
