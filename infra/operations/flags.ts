import { MillraceError } from '../../common/errors.js';
import { parseFlags, usageError } from '../../common/flags.js';
import { DATABASE_SETTINGS } from '../../common/settings/index.js';
import { expectService } from './steps/service.js';

/** @import { Flag } from '../../common/flags.js' */
/** @import { Step } from './plan.js' */

/**
 * The input of an operation: its flags by name, and values derived from them.
 *
 * @typedef {object} Known
 * @property {'scylla' | 'cassandra'} engine
 * @property {string} keyspace
 * @property {string} tag name of the backup or task; default: the current time
 * @property {number} from number of the first step to run
 * @property {string} reach program that runs a script on a node, such as `ssh`
 * @property {number} within time limit of each wait, in ms
 * @property {Need} need
 * @property {<T extends { stop?: string, start?: string }>(service: T) => T} commands returns the commands of a service, replaced by
 *   `--stop` and `--start` where these flags are given
 *
 * @typedef {Record<string, any> & Known} Given
 *
 * @typedef {object} Operation
 * @property {string} help one line of the help text
 * @property {[string, ...string[]]} examples arguments after the name of the operation
 * @property {(keyof typeof SHARED)[]} shared flags that the operation shares with other operations
 * @property {Record<string, Flag>} flags flags that only this operation has
 * @property {(given: Given) => Step[] | Promise<Step[]>} plan returns the steps of the operation
 */

/**
 * A function that returns the value of a required flag, and throws `usage` if the flag was not given.
 *
 * @typedef {{ (flag: 'nodes'): [string, ...string[]], (flag: string): any }} Need
 */

/** Flags that several operations take. @satisfies {Record<string, Flag>} */
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
};

/** Flags of every operation. @satisfies {Record<string, Flag>} */
const COMMON = {
  from: { type: 'integer', help: 'starts with this step; the steps before it are done', fallback: 1, min: 1 },
  'dry-run': { type: 'switch', help: 'prints the commands as a script, and runs none' },
};

/** Pattern of flag values that become part of paths, task names and commands. A value that begins with `-` would be read as an option. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$/;
const CHECKED = ['cluster', 'location', 'keyspace', 'tag', 'into', 'to', 'node', 'dead', 'client-id'];

/**
 * @param {string} command the command as a person types it
 * @param {Operation} operation
 * @param {string[]} argv arguments of the operation
 * @param {Date} now
 * @returns {Given}
 * @throws {MillraceError} `usage`, `help`
 */
export function readGiven(command, operation, argv, now) {
  /** @type {Record<string, any>} */
  const flags = parseFlags(
    {
      command,
      help: operation.help,
      examples: /** @type {[string, ...string[]]} */ (
        operation.examples.map((words) => `${command} ${words}`)
      ),
      flags: flagsOf(operation),
      settings: DATABASE_SETTINGS,
    },
    argv,
  );
  const { engine = 'scylla', tag, keyspace, from, reach, within } = flags;
  if (engine !== 'scylla' && engine !== 'cassandra')
    throw usageError(command, ['--engine is scylla or cassandra']);
  const nodes = flags['nodes']?.split(',').filter(Boolean);
  for (const name of CHECKED) expectSafe(command, name, flags[name]);
  for (const node of nodes ?? []) expectSafe(command, 'nodes', node);
  /** @param {string} flag */
  function need(flag) {
    const value = flag === 'nodes' ? nodes : flags[flag];
    if (value?.length > 0) return value;
    throw usageError(command, [`${command} needs --${flag}`]);
  }
  return {
    ...flags,
    ...{ engine, keyspace, from, reach, within, need },
    tag: tag ?? timeTag(now),
    commands(service) {
      const ours = Object.entries(service).map(([name, command]) => [name, flags[name] ?? command]);
      if (Object.keys(service).some((name) => flags[name] === undefined)) expectService(reach);
      return Object.fromEntries(ours);
    },
  };
}

/** @param {Operation} operation */
const flagsOf = ({ shared, flags }) => ({
  ...Object.fromEntries(shared.map((name) => [name, SHARED[name]])),
  ...flags,
  ...COMMON,
});

/**
 * @param {Given} given
 * @throws {MillraceError} `usage`: `--nodes` contains `--node`, but must name only the other nodes
 */
export function expectOther({ need, node }) {
  if (!need('nodes').includes(node)) return;
  throw new MillraceError('usage', `--node ${node} is one of --nodes: those are the others, without it`);
}

/** @param {string} command @param {string} flag @param {string | undefined} value */
function expectSafe(command, flag, value) {
  if (value === undefined || SAFE.test(value)) return;
  throw usageError(command, [`--${flag}: "${value}" is no name: use a-z, A-Z, 0-9 and _ . : @ -`]);
}

/** @param {Date} now @returns {string} UTC time such as 20261122T0200 */
const timeTag = (now) => now.toISOString().slice(0, 16).replaceAll(/[-:]/g, '');
