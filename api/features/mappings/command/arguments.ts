import { type CommandGroup, type CommandLine, parseGroup } from '../../../../common/flags.ts';

const COMMAND = 'npm run mappings --';

const COMMANDS = {
  test: {
    help: 'prints what a message would become, and stores nothing',
    examples: [
      `${COMMAND} test mappings.yaml --topic home/kitchen/state --payload '{"temperature": 21.5}'`,
      `${COMMAND} test zigbee2mqtt --topic zigbee2mqtt/kitchen --payload @payload.json`,
    ],
    words: { usage: 'FILE', rule: 'one file of mappings, or the name of a preset', least: 1, most: 1 },
    flags: {
      topic: { type: 'text', help: 'topic of the message' },
      payload: { type: 'text', help: 'its payload; @FILE reads a file, and - the standard input' },
    },
  },
  list: {
    help: 'lists the presets with their topics, or the mappings of a file',
    examples: [`${COMMAND} list`, `${COMMAND} list mappings.yaml`],
    words: { usage: '[FILE]', rule: 'at most one file of mappings', least: 0, most: 1 },
    flags: {},
  },
  show: {
    help: 'prints the file of a preset, to start a mapping of your own from it',
    examples: [`${COMMAND} show zigbee2mqtt`],
    words: { usage: 'PRESET', rule: 'the name of one preset', least: 1, most: 1 },
    flags: {},
  },
} satisfies Record<string, Omit<CommandLine, 'command'>>;

const GROUP: CommandGroup<typeof COMMANDS> = {
  command: COMMAND,
  help: 'Shows how topics of other products become measurements. It needs neither a database nor a broker.',
  examples: [`${COMMAND} list`, ...COMMANDS.test.examples],
  commands: COMMANDS,
  settings: ['HISTORY_DAYS', 'MAX_CLOCK_SKEW', 'RELATIVE_TIMES'],
};

/** `argv`: without node and script. @throws `usage`, `help` */
export const readArguments = (
  argv: string[],
): { command: keyof typeof COMMANDS; flags: { topic?: string; payload?: string }; words: string[] } =>
  parseGroup(GROUP, argv);
