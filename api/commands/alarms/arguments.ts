import { parseGroup } from '../../../common/flags.js';
import { DATABASE_SETTINGS } from '../../../common/settings/index.js';

/** @import { CommandGroup, CommandLine } from '../../../common/flags.js' */

const COMMAND = 'npm run alarms --';

const FILE = { usage: 'FILE', rule: 'one YAML file', least: 1, most: 1 };

/** @satisfies {Record<string, Omit<CommandLine, 'command'>>} */
const COMMANDS = {
  list: {
    help: 'prints all rules as YAML, in the form that apply reads',
    examples: [`${COMMAND} list`],
    flags: {},
  },
  apply: {
    help: 'adds the rules of the file, and changes those of the same name that differ',
    examples: [`${COMMAND} apply alarms.yaml`, `${COMMAND} apply alarms.yaml --prune`],
    words: FILE,
    flags: { prune: { type: 'switch', help: 'removes the rules that the file does not have' } },
  },
  test: {
    help: 'prints when each rule of the file would have fired',
    examples: [`${COMMAND} test alarms.yaml --days 7`],
    words: FILE,
    flags: { days: { type: 'integer', min: 1, fallback: 30, help: 'days of history' } },
  },
};

/** @type {CommandGroup<typeof COMMANDS>} */
const GROUP = {
  command: COMMAND,
  help: 'Keeps the rules of alarms in a file, at the database itself. Each command answers --help.',
  examples: [`${COMMAND} list`, `${COMMAND} apply alarms.yaml`],
  commands: COMMANDS,
  settings: DATABASE_SETTINGS,
};

/**
 * The parsed command line.
 *
 * @typedef {object} Arguments
 * @property {keyof typeof COMMANDS} command
 * @property {string} file path of the file of rules; empty for `list`
 * @property {boolean} prune
 * @property {number} days
 */

/**
 * Reads the command line.
 *
 * @param {string[]} argv arguments without node and script
 * @returns {Arguments}
 * @throws {MillraceError} `usage`, `help`
 */
export function readArguments(argv) {
  // The first word may be `rules`, which names the subject of the commands. It has no effect.
  const { command, flags, words } = parseGroup(GROUP, argv[0] === 'rules' ? argv.slice(1) : argv);
  return { command, file: words[0] ?? '', prune: flags.prune === true, days: flags.days ?? 30 };
}
