import { type CommandGroup, type CommandLine, parseGroup } from '../../../../common/flags.ts';
import { API_SETTINGS } from '../../../../common/settings/index.ts';

const COMMAND = 'npm run alarms --';

const FILE = { usage: 'FILE', rule: 'one YAML file', least: 1, most: 1 };

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
} satisfies Record<string, Omit<CommandLine, 'command'>>;

const GROUP: CommandGroup<typeof COMMANDS> = {
  command: COMMAND,
  help: 'Keeps the rules of alarms in a file, over the HTTP API. Each command answers --help.',
  examples: [`${COMMAND} list`, `${COMMAND} apply alarms.yaml`],
  commands: COMMANDS,
  settings: API_SETTINGS,
};

export interface Arguments {
  command: keyof typeof COMMANDS;
  /** path of the file of rules; empty for `list` */
  file: string;
  prune: boolean;
  days: number;
}

/** `argv`: without node and script. @throws `usage`, `help` */
export function readArguments(argv: string[]): Arguments {
  // The first word may be `rules`, which names the subject of the commands. It has no effect.
  const { command, flags, words } = parseGroup(GROUP, argv[0] === 'rules' ? argv.slice(1) : argv);
  return { command, file: words[0] ?? '', prune: flags.prune === true, days: flags.days ?? 30 };
}
