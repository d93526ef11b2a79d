/**
 * Parses the command lines of all commands of Millrace with commander, so that help, errors and hints have one style.
 *
 * A command that works in a fresh clone (`npm run dev`, `npm test`) imports this module after `ensurePackages`, which installs commander.
 */
import { Command, Option } from 'commander';
import { durationText, parseDuration } from './durations.js';
import { MillraceError } from './errors.js';
import { SETTINGS } from './settings/index.js';

/** @import { Name as SettingName } from './settings/index.js' */

/**
 * @typedef {object} Flag
 * @property {'number' | 'integer' | 'duration' | 'text' | 'switch'} type the value of a duration is in ms, that of a switch is a boolean
 * @property {string} help one line of `--help`
 * @property {number | string | boolean} [fallback] value if the flag is not given (default: undefined)
 * @property {number} [min] smallest valid number, or shortest valid duration in ms
 * @property {string} [group] heading in `--help`, default "Flags:"
 */

/**
 * @template {Flag} F
 * @typedef {F extends { fallback: {} } ? ValueTypes[F['type']] : ValueTypes[F['type']] | undefined} ValueOf
 */

/** @typedef {{ number: number, integer: number, duration: number, text: string, switch: boolean }} ValueTypes */

/**
 * The flags and the help text of a command.
 *
 * @template {Record<string, Flag>} [F=Record<string, Flag>]
 * @typedef {object} CommandLine
 * @property {string} command the command as a person types it, such as `npm run size --`
 * @property {string} help one sentence that describes what the command does
 * @property {[string, ...string[]]} examples whole commands that do something useful
 * @property {F} flags
 * @property {Words} [words] the words (positional arguments) that the command takes; none by default
 * @property {SettingName[]} [settings] the settings that the command reads, or the main ones if it reads all
 */

/**
 * The words (positional arguments) of a command. `rule` ends an error message: the command takes "one account or more".
 *
 * @typedef {{ usage: string, rule: string, least: number, most: number }} Words
 */

/**
 * Several commands under one name, such as `npm run credentials -- issue`.
 *
 * @template {Record<string, Omit<CommandLine, 'command'>>} C
 * @typedef {{ command: string, help: string, examples: [string, ...string[]], settings?: SettingName[], commands: C }} CommandGroup
 */

/** @type {Record<Exclude<Flag['type'], 'switch'>, { rule: string, read: (text: string) => number | string | null }>} */
const READERS = {
  text: { rule: 'a text', read: (text) => text },
  duration: { rule: 'a duration such as 500ms 1s 5m 1h 30d', read: parseDuration },
  number: { rule: 'a number', read: readNumber },
  integer: {
    rule: 'a whole number',
    read: (text) => (Number.isInteger(readNumber(text)) ? readNumber(text) : null),
  },
};

/** @param {string} text */
function readNumber(text) {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/**
 * Reads the flags of a command that takes no positional arguments.
 *
 * @template {Record<string, Flag>} F
 * @param {CommandLine<F>} line
 * @param {string[]} argv without node and script
 * @returns {{ [K in keyof F]: ValueOf<F[K]> }} a value for each flag
 * @throws {MillraceError} `usage` with every invalid value, or `help` for --help
 */
export const parseFlags = (line, argv) => parseLine(line, argv).flags;

/**
 * Reads the flags and the words (positional arguments) of a command.
 *
 * @template {Record<string, Flag>} F
 * @param {CommandLine<F>} line
 * @param {string[]} argv without node and script
 * @returns {{ flags: { [K in keyof F]: ValueOf<F[K]> }, words: string[] }}
 * @throws {MillraceError} `usage`, `help`
 */
export function parseLine(line, argv) {
  /** @type {string[]} */
  const problems = [];
  const command = buildCommand(line.command, line, problems);
  command.parse(argv, { from: 'user' });
  return valuesOf(command, line, problems);
}

/**
 * Reads the name of the wanted command of a group, the flags and the words of this command.
 *
 * @template {Record<string, Omit<CommandLine, 'command'>>} C
 * @param {CommandGroup<C>} group
 * @param {string[]} argv without node and script
 * @returns {{ command: keyof C & string, flags: Record<string, any>, words: string[] }}
 * @throws {MillraceError} `usage`, `help`
 */
export function parseGroup({ command: name, help, examples, settings, commands }, argv) {
  /** @type {string[]} */
  const problems = [];
  const group = basicCommand(name, { help, examples, settings }, problems)
    .usage('COMMAND [flags]')
    .commandsGroup('Commands:')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` });
  /** @type {{ command: keyof C & string, flags: Record<string, any>, words: string[] } | undefined} */
  let read;
  for (const [command, line] of Object.entries(commands)) {
    const built = buildCommand(command, { settings, ...line }, problems);
    built.action(() => {
      read = { command, ...valuesOf(built, line, problems) };
    });
    group.addCommand(built);
  }
  group.parse(argv, { from: 'user' });
  if (!read) throw usageError(name, ['name one of its commands']);
  return read;
}

/**
 * @param {string} command the command as a person types it
 * @param {string[]} problems one sentence for each problem
 * @returns {MillraceError} `usage`
 */
export const usageError = (command, problems) =>
  new MillraceError(
    'usage',
    [...problems.map((problem) => `error: ${problem}`), `\`${command} --help\` lists what it takes.`].join(
      '\n',
    ),
  );

/**
 * @param {string} name
 * @param {Omit<CommandLine, 'command'>} line
 * @param {string[]} problems gets a sentence for each wrong value
 */
function buildCommand(name, line, problems) {
  const { flags, words } = line;
  const command = basicCommand(name, line, problems).usage(words ? `${words.usage} [flags]` : '[flags]');
  for (const [flag, { type, help, fallback, group }] of Object.entries(flags)) {
    const option = new Option(type === 'switch' ? `--${flag}` : `--${flag} <${type}>`, help);
    // A switch may begin with `no-`. Commander would treat it as the negation of another switch.
    option.negate = false;
    if (fallback !== undefined && fallback !== false)
      option.default(fallback, type === 'duration' ? durationText(Number(fallback)) : String(fallback));
    if (group) option.helpGroup(group);
    if (type !== 'switch') option.argParser((text) => readValue(flag, text, { flags, problems }));
    command.addOption(option);
  }
  return command;
}

/**
 * @param {string} name
 * @param {{ help: string, examples: string[], flags?: Record<string, Flag>, settings?: SettingName[] }} texts
 * @param {string[]} problems
 */
function basicCommand(name, { help, examples, flags = {}, settings = [] }, problems) {
  let text = '';
  const write = (/** @type {string} */ part) => {
    text += part;
  };
  // Only a terminal gets broken lines, because a program that reads the output searches whole lines.
  const width = () => (process.stdout.isTTY ? process.stdout.columns : 1000);
  const command = new Command(name)
    .description(help)
    .optionsGroup('Flags:')
    .helpOption('--help', 'print this text and do nothing else')
    .addHelpText(
      'after',
      ['', ...settingsText(settings), 'Examples:', ...examples.map((example) => `  ${example}`)].join('\n'),
    )
    // `valuesOf` counts the words, after all flags are read.
    .allowExcessArguments()
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError() {},
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    });
  return command.exitOverride(({ exitCode, code, message }) => {
    if (exitCode === 0) throw new MillraceError('help', text.trimEnd());
    if (code === 'commander.help')
      throw new MillraceError('usage', `error: name one of the commands\n\n${text.trimEnd()}`);
    throw usageError(fullName(command), [inOurWords(message, flags), ...problems]);
  });
}

/** @param {SettingName[]} names @returns {string[]} lines of the help, the last one empty */
export function settingsText(names) {
  if (names.length === 0) return [];
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => {
    const { help = '', fallback, unset } = SETTINGS[name] ?? {};
    const standard = fallback ?? unset;
    return `  ${name.padEnd(width)}  ${help}${standard === undefined ? '' : ` (default: ${standard})`}`;
  });
  return ['Settings, from the environment or .env (all: docs/reference/settings.md):', ...lines, ''];
}

/** @param {Command} command @returns {string} name of the command, after the name of the group that contains it */
const fullName = (command) => [command.parent?.name(), command.name()].filter(Boolean).join(' ');

/**
 * Rewrites an error message of commander. Commander calls a flag "option", and puts its "Did you mean …?" on a separate line.
 *
 * @param {string} message
 * @param {Record<string, Flag>} flags
 */
function inOurWords(message, flags) {
  const [, valued = ''] = /'--([^'=]+)=/.exec(message) ?? [];
  if (flags[valued]?.type === 'switch') return `--${valued} takes no value`;
  const [, missing = ''] = /^error: option '--(\S+) .*' argument missing$/.exec(message) ?? [];
  if (missing) return problemOf(missing, /** @type {Flag} */ (flags[missing]).type);
  return message
    .replace(/^error: /, '')
    .replace(/\boption '([^'=]*)[^']*'/, "flag '$1'")
    .replace(/\n\((Did you mean .*)\)$/, '. $1');
}

/** @param {string} flag @param {Flag['type']} type @param {string} [text] the value as the user typed it */
const problemOf = (flag, type, text) =>
  `--${flag} takes ${type === 'switch' ? 'no value' : READERS[type].rule}${text === undefined ? '' : `, not "${text}"`}`;

/**
 * @param {string} name
 * @param {string} text
 * @param {{ flags: Record<string, Flag>, problems: string[] }} context
 * @returns {string | number | null} null: the value is invalid, and `problems` has the reason
 */
function readValue(name, text, { flags, problems }) {
  const { type, min } = /** @type {Flag & { type: keyof typeof READERS }} */ (flags[name]);
  const value = READERS[type].read(text);
  // If a flag has no value, commander takes the next flag as its value.
  if (value === null || (text.startsWith('--') && Object.hasOwn(flags, text.slice(2))))
    problems.push(problemOf(name, type, text));
  else if (min !== undefined && Number(value) < min)
    problems.push(`--${name} must be ${type === 'duration' ? durationText(min) : min} or more`);
  return value;
}

/**
 * @param {Command} command a command that has parsed its arguments
 * @param {Pick<CommandLine, 'flags' | 'words'>} line
 * @param {string[]} problems
 * @returns {{ flags: any, words: string[] }}
 */
function valuesOf(command, { flags, words }, problems) {
  const { args } = command;
  if (!words && args.length > 0)
    problems.push(`unexpected word "${args[0]}": this command takes flags alone`);
  if (words && (args.length < words.least || args.length > words.most))
    problems.push(`${command.name()} takes ${words.rule}`);
  if (problems.length > 0) throw usageError(fullName(command), problems);
  const values = command.options.map((option) => [
    option.name(),
    command.getOptionValue(option.attributeName()) ?? flags[option.name()]?.fallback,
  ]);
  return { words: args, flags: Object.fromEntries(values) };
}
