import { expect, test } from '@jest/globals';
import { durationText, parseDuration } from '../../../common/durations.ts';
import { MillraceError } from '../../../common/errors.ts';
import { type CommandLine, type Flag, parseFlags, parseGroup } from '../../../common/flags.ts';
import type { Name } from '../../../common/settings/index.ts';

const FLAGS = {
  devices: { type: 'integer', help: 'how many devices', fallback: 25, min: 1 },
  rate: { type: 'number', help: 'how many a second' },
  interval: { type: 'duration', help: 'time between samples', fallback: 1000, min: 1 },
  broker: { type: 'text', help: 'address of the broker' },
  fresh: { type: 'switch', help: 'begin with an empty database', fallback: false },
  'no-simulator': { type: 'switch', help: 'no devices' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run x --',
  help: 'Starts all.',
  examples: ['npm run x -- --devices 3'],
  flags: FLAGS,
};

const parse = (...argv: string[]) => parseFlags(LINE, argv);

function refused(...argv: string[]): MillraceError {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error(`${argv.join(' ')} was taken`);
}

test.each([
  ['500ms', 500],
  ['1s', 1000],
  ['1.5s', 1500],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['30d', 2_592_000_000],
  ['1y', 31_536_000_000],
  ['1e3s', 1_000_000],
  [' 5m ', 300_000],
  ['0s', 0],
])('Parser of durations: %j: read as %p ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  expect(parseDuration(durationText(ms))).toBe(ms);
});

test.each(['', '5', 's', '5 m', '-5m', '5M', '5m5', '1h30m', '.5s', '1e-3s', '1e999s', 'Infinitys'])(
  'Parser of durations: %j is not a duration: null is returned',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);

test.each([
  ['an unknown flag', ['--device', '5'], ["unknown flag '--device'. Did you mean --devices?"]],
  ['an unknown flag with its value', ['--device=5'], ["unknown flag '--device'. Did you mean --devices?"]],
  ['a flag like no other', ['--paint', 'red'], ["unknown flag '--paint'"]],
  ['a name of a built-in property', ['--constructor'], ["unknown flag '--constructor'"]],
  ['a short flag', ['-d'], ["unknown flag '-d'"]],
  ['a word', ['fast'], ['unexpected word "fast": this command takes flags alone']],
  ['a flag without its value', ['--devices'], ['--devices takes a whole number']],
  ['a flag in place of a value', ['--broker', '--fresh'], ['--broker takes a text, not "--fresh"']],
  ['a fraction', ['--devices', '1.5'], ['--devices takes a whole number, not "1.5"']],
  ['text instead of a number', ['--rate', 'many'], ['--rate takes a number, not "many"']],
  ['an empty number', ['--rate='], ['--rate takes a number, not ""']],
  ['an infinite number', ['--rate', 'Infinity'], ['--rate takes a number, not "Infinity"']],
  ['a number below the least', ['--devices', '0'], ['--devices must be 1 or more']],
  ['a negative number', ['--devices=-5'], ['--devices must be 1 or more']],
  [
    'a duration without its unit',
    ['--interval', '5'],
    ['--interval takes a duration such as 500ms 1s 5m 1h 30d, not "5"'],
  ],
  ['a duration below the least', ['--interval', '0s'], ['--interval must be 1ms or more']],
  ['a switch with a value', ['--fresh=yes'], ['--fresh takes no value']],
  [
    'several wrong values',
    ['--rate', 'x', '--interval', 'y'],
    ['--rate takes a number, not "x"', '--interval takes a duration such as 500ms 1s 5m 1h 30d, not "y"'],
  ],
  [
    'an unknown flag and a wrong value',
    ['--device=5', '--rate', 'x'],
    ["unknown flag '--device'. Did you mean --devices?", '--rate takes a number, not "x"'],
  ],
])('Command-line flags: %s: the error has each problem and a hint to --help', (_, argv, sentences) => {
  const { code, exitCode, message } = refused(...argv);
  expect([code, exitCode]).toEqual(['usage', 2]);
  expect(message.split('\n')).toEqual([
    ...sentences.map((sentence) => `error: ${sentence}`),
    '`npm run x -- --help` lists what it takes.',
  ]);
});

test('Command-line flags: --help: usage, flags with defaults and examples are shown, and other errors are ignored', () => {
  const { code, exitCode, message } = refused('--rate', 'x', '--help', '--paint');
  expect([code, exitCode]).toEqual(['help', 0]);
  expect(message.split('\n')).toEqual([
    'Usage: npm run x -- [flags]',
    '',
    'Starts all.',
    '',
    'Flags:',
    '  --devices <integer>    how many devices (default: 25)',
    '  --rate <number>        how many a second',
    '  --interval <duration>  time between samples (default: 1s)',
    '  --broker <text>        address of the broker',
    '  --fresh                begin with an empty database',
    '  --no-simulator         no devices',
    '  --help                 print this text and do nothing else',
    '',
    'Examples:',
    '  npm run x -- --devices 3',
  ]);
});

test('Command-line flags: --help of a command that reads settings: each is shown with its default, also for a command of a group', () => {
  const expected = [
    'Settings, from the environment or .env (all: .env.example):',
    '  CQL_LOCAL_PORT      CQL port of the local database. (default: 9042)',
    '  CQL_CONTACT_POINTS  Addresses of the cluster. (default: a local database)',
    '  CQL_USERNAME        Database role.',
    '',
    'Examples:',
  ].join('\n');
  const settings: Name[] = ['CQL_LOCAL_PORT', 'CQL_CONTACT_POINTS', 'CQL_USERNAME'];
  const group = { ...LINE, settings, commands: { list: { ...LINE, flags: {} } } };
  expect(() => parseFlags({ ...LINE, settings }, ['--help'])).toThrow(expected);
  expect(() => parseGroup(group, ['list', '--help'])).toThrow(expected);
});

const GROUP = {
  command: 'npm run x --',
  help: 'Keeps accounts.',
  examples: ['npm run x -- list'] as [string],
  commands: {
    issue: {
      help: 'makes one',
      examples: ['npm run x -- issue a'] as [string],
      words: { usage: 'ACCOUNT…', rule: 'one account or more', least: 1, most: 9 },
      flags: { file: { type: 'text', help: 'where to' } as const },
    },
    list: { help: 'lists them', examples: ['npm run x -- list'] as [string], flags: {} },
  },
};

test('Command-line flags: a group of commands: one command is parsed into its name, arguments and flags', () => {
  expect(parseGroup(GROUP, ['issue', 'a', '--file', 'f'])).toEqual({
    command: 'issue',
    words: ['a'],
    flags: { file: 'f' },
  });
});

test.each([
  [[], 'usage', /^error: name one of the commands\n\nUsage: npm run x -- COMMAND/],
  [['isue'], 'usage', /^error: unknown command 'isue'. Did you mean issue\?\n/],
  [['issue'], 'usage', /^error: issue takes one account or more\n`npm run x -- issue --help` lists/],
  [['issue', '--fil', 'x'], 'usage', /^error: unknown flag '--fil'. Did you mean --file\?\n/],
  [['list', 'x'], 'usage', /^error: unexpected word "x"/],
  [['--help'], 'help', /^Usage: npm run x -- COMMAND.* {2}issue ACCOUNT… \[flags\] +makes one\n/s],
  [['issue', '--help'], 'help', /^Usage: npm run x -- issue ACCOUNT… \[flags\].*--file.*Examples:/s],
])('Command-line flags: a group of commands gets %j: the error code is %s', (argv, code, message) => {
  expect(() => parseGroup(GROUP, argv)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
});
