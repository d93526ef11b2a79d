/**
 * Parses the command lines of all commands of Millrace with commander, so that help, errors and hints have one style.
 *
 * A command that works in a fresh clone (`npm run dev`, `npm test`) imports this module after `ensurePackages`, which installs commander.
 */
import { Command, Option } from 'commander';
import { durationText, parseDuration } from './durations.ts';
import { MillraceError } from './errors.ts';
import { type NamedSetting, SETTINGS, type Name as SettingName } from './settings/index.ts';

export interface Flag {
  /** the value of a duration is in ms, that of a switch is a boolean */
  type: 'number' | 'integer' | 'duration' | 'text' | 'switch';
  /** one line */
  help: string;
  /** value if the flag is not given (default: undefined) */
  fallback?: number | string | boolean;
  /** smallest valid number, or shortest valid duration in ms */
  min?: number;
  /** heading in `--help`, default "Flags:" */
  group?: string;
}

type ValueOf<F extends Flag> = F extends { fallback: NonNullable<Flag['fallback']> }
  ? ValueTypes[F['type']]
  : ValueTypes[F['type']] | undefined;

type Values<F extends Record<string, Flag>> = { [K in keyof F]: ValueOf<F[K]> };

type Commands = Record<string, Omit<CommandLine, 'command'>>;

type FlagsIn<C extends Commands> = C[keyof C]['flags'];

type KeyIn<T> = T extends T ? keyof T : never;
type MemberOf<T, K> = T extends T ? (K extends keyof T ? T[K] : never) : never;

/** The flags of other commands than the one that was named are undefined. */
export type GroupValues<C extends Commands> = {
  [K in KeyIn<FlagsIn<C>>]?: ValueOf<Extract<MemberOf<FlagsIn<C>, K>, Flag>>;
};

interface Named<C extends Commands> {
  command: keyof C & string;
  flags: GroupValues<C>;
  words: string[];
}

type ValueTypes = { number: number; integer: number; duration: number; text: string; switch: boolean };

export interface CommandLine<F extends Record<string, Flag> = Record<string, Flag>> {
  /** as a person types it, such as `npm run size --` */
  command: string;
  help: string;
  /** each does something useful */
  examples: [string, ...string[]];
  flags: F;
  /** positional arguments; none by default */
  words?: Words;
  settings?: HelpSetting[];
}

/** Positional arguments. `rule` ends an error message: the command takes "one account or more". */
type Words = { usage: string; rule: string; least: number; most: number };

export type CommandGroup<C extends Commands> = {
  command: string;
  help: string;
  examples: [string, ...string[]];
  settings?: HelpSetting[];
  commands: C;
};

const READERS: Record<
  Exclude<Flag['type'], 'switch'>,
  { rule: string; read: (text: string) => number | string | null }
> = {
  text: { rule: 'a text', read: (text) => text },
  duration: { rule: 'a duration such as 500ms 1s 5m 1h 30d', read: parseDuration },
  number: { rule: 'a number', read: readNumber },
  integer: {
    rule: 'a whole number',
    read: (text) => (Number.isInteger(readNumber(text)) ? readNumber(text) : null),
  },
};

function readNumber(text: string) {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/**
 * For a command without positional arguments.
 * @param argv without node and script
 * @throws `usage` with every invalid value, or `help` for --help
 */
export const parseFlags = <F extends Record<string, Flag>>(line: CommandLine<F>, argv: string[]): Values<F> =>
  parseLine(line, argv).flags;

/** @param argv without node and script @throws `usage`, `help` */
export function parseLine<F extends Record<string, Flag>>(
  line: CommandLine<F>,
  argv: string[],
): { flags: Values<F>; words: string[] } {
  const problems: string[] = [];
  const command = buildCommand(line.command, line, problems);
  command.parse(argv, { from: 'user' });
  return valuesOf(command, line, problems);
}

/** @param argv without node and script @throws `usage`, `help` */
export function parseGroup<C extends Commands>(
  { command: name, help, examples, settings, commands }: CommandGroup<C>,
  argv: string[],
): Named<C> {
  const problems: string[] = [];
  const group = basicCommand(name, { help, examples, settings }, problems)
    .usage('COMMAND [flags]')
    .commandsGroup('Commands:')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` });
  let read: Named<C> | undefined;
  for (const [command, line] of Object.entries(commands)) {
    const built = buildCommand(command, { settings, ...line }, problems);
    built.action(() => {
      read = { command, ...valuesOf(built, line, problems) } as Named<C>;
    });
    group.addCommand(built);
  }
  group.parse(argv, { from: 'user' });
  if (!read) throw usageError(name, ['name one of its commands']);
  return read;
}

/** @param command as a person types it @param problems one sentence each */
export const usageError = (command: string, problems: string[]): MillraceError =>
  new MillraceError(
    'usage',
    [...problems.map((problem) => `error: ${problem}`), `\`${command} --help\` lists what it takes.`].join(
      '\n',
    ),
  );

/** @param problems gets a sentence for each wrong value */
function buildCommand(name: string, line: Omit<CommandLine, 'command'>, problems: string[]) {
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

function basicCommand(
  name: string,
  {
    help,
    examples,
    flags = {},
    settings = [],
  }: { help: string; examples: string[]; flags?: Record<string, Flag>; settings?: HelpSetting[] },
  problems: string[],
) {
  let text = '';
  const write = (part: string) => {
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

/** A setting of a feature comes from `namedSettings`. */
type HelpSetting = SettingName | NamedSetting;

export function settingsText(settings: HelpSetting[]): string[] {
  if (settings.length === 0) return [];
  const named = settings.map((setting) =>
    typeof setting === 'string' ? { name: setting, ...SETTINGS[setting] } : setting,
  );
  const width = Math.max(...named.map(({ name }) => name.length));
  const lines = named.map(({ name, help = '', fallback, unset }) => {
    const standard = fallback ?? unset;
    return `  ${name.padEnd(width)}  ${help}${standard === undefined ? '' : ` (default: ${standard})`}`;
  });
  return ['Settings, from the environment or .env (all: .env.example):', ...lines, ''];
}

/** After the name of the group that contains the command. */
const fullName = (command: Command): string =>
  [command.parent?.name(), command.name()].filter(Boolean).join(' ');

/** Commander calls a flag "option", and puts its "Did you mean …?" on a separate line. */
function inOurWords(message: string, flags: Record<string, Flag>) {
  const [, valued = ''] = /'--([^'=]+)=/.exec(message) ?? [];
  if (flags[valued]?.type === 'switch') return `--${valued} takes no value`;
  const [, missing = ''] = /^error: option '--(\S+) .*' argument missing$/.exec(message) ?? [];
  if (missing) return problemOf(missing, (flags[missing] as Flag).type);
  return message
    .replace(/^error: /, '')
    .replace(/\boption '([^'=]*)[^']*'/, "flag '$1'")
    .replace(/\n\((Did you mean .*)\)$/, '. $1');
}

/** @param text as the user typed it */
const problemOf = (flag: string, type: Flag['type'], text?: string) =>
  `--${flag} takes ${type === 'switch' ? 'no value' : READERS[type].rule}${text === undefined ? '' : `, not "${text}"`}`;

/** Null: `problems` has the reason. */
function readValue(
  name: string,
  text: string,
  { flags, problems }: { flags: Record<string, Flag>; problems: string[] },
): string | number | null {
  const { type, min } = flags[name] as Flag & { type: keyof typeof READERS };
  const value = READERS[type].read(text);
  // If a flag has no value, commander takes the next flag as its value.
  if (value === null || (text.startsWith('--') && Object.hasOwn(flags, text.slice(2))))
    problems.push(problemOf(name, type, text));
  else if (min !== undefined && Number(value) < min)
    problems.push(`--${name} must be ${type === 'duration' ? durationText(min) : min} or more`);
  return value;
}

/** @param command has parsed its arguments */
function valuesOf<F extends Record<string, Flag>>(
  command: Command,
  { flags, words }: Pick<CommandLine<F>, 'flags' | 'words'>,
  problems: string[],
): { flags: Values<F>; words: string[] } {
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
