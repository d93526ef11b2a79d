import {
  type CommandGroup,
  type CommandLine,
  type Flag,
  parseGroup,
  usageError,
} from '../../../../common/flags.ts';
import { DATABASE_SETTINGS } from '../../../../common/settings/index.ts';

const COMMAND = 'npm run credentials --';

const FILE = {
  type: 'text',
  help: 'file that the accounts and secrets are added to, a line each, instead of being printed; its owner alone may read it',
} as const satisfies Flag;

const ACCOUNTS = {
  usage: 'ACCOUNT…',
  rule: 'one account or more',
  least: 1,
  most: Number.POSITIVE_INFINITY,
};

const COMMANDS = {
  issue: {
    help: 'makes a secret for each account, which is the name or the UUID of a device',
    examples: [
      `${COMMAND} issue pump-7`,
      `${COMMAND} issue gateway-1 --devices pump-7,pump-8 --file devices.secret`,
    ],
    words: ACCOUNTS,
    flags: {
      devices: {
        type: 'text',
        help: 'further devices that each may speak for, as a gateway does; comma-separated, one whose name has a comma by its UUID; to change them, revoke and issue again',
      },
      file: FILE,
    },
  },
  list: { help: 'lists all accounts that have a credential', examples: [`${COMMAND} list`], flags: {} },
  rotate: {
    help: 'makes a new secret for each account and ends the old one',
    examples: [`${COMMAND} rotate pump-7`],
    words: ACCOUNTS,
    flags: { file: FILE },
  },
  revoke: {
    help: 'takes its credential from each account',
    examples: [`${COMMAND} revoke pump-7 pump-8`],
    words: ACCOUNTS,
    flags: {},
  },
  mosquitto: {
    help: 'writes the password file and the access file of a Mosquitto into the directory --out',
    examples: [`${COMMAND} mosquitto --out /etc/mosquitto/millrace`],
    flags: { out: { type: 'text', help: 'directory for passwords and acl; both are replaced' } },
  },
} satisfies Record<string, Omit<CommandLine, 'command'>>;

const GROUP: CommandGroup<typeof COMMANDS> = {
  command: COMMAND,
  help: 'Keeps the credentials of devices, at the database itself. Each command answers --help.',
  examples: [`${COMMAND} issue pump-7`, `${COMMAND} list`],
  commands: COMMANDS,
  settings: [...DATABASE_SETTINGS, 'MQTT_AUTH', 'MQTT_USERNAME'],
};

export interface Arguments {
  command: keyof typeof COMMANDS;
  accounts: string[];
  devices: string[];
  out: string;
  file?: string;
}

/** `argv`: without node and script. @throws `usage`, `help` */
export function readArguments(argv: string[]): Arguments {
  const { command, flags, words: accounts } = parseGroup(GROUP, argv);
  const { devices, out = '', file } = flags;
  if (command === 'mosquitto' && !out)
    throw usageError(`${COMMAND} mosquitto`, ['mosquitto takes --out DIR']);
  return { command, accounts, devices: devices === undefined ? [] : devices.split(','), out, file };
}
