import { MillraceError } from '../../../common/errors.js';
import { parseFlags } from '../../../common/flags.js';

/** @import { Flag } from '../../../common/flags.js' */

const COMMAND = 'npm run credentials --';

const HELP = `${COMMAND} takes one of these, each of which says by --help what it takes in turn:

  issue ACCOUNT…    makes a secret for each, an account being the name or the UUID of a device
  list              all accounts that have a credential
  rotate ACCOUNT…   makes a new secret for each; the old one is good no more
  revoke ACCOUNT…   takes its credential from each
  mosquitto --out DIR   writes the password file and the access file of a Mosquitto`;

/** @satisfies {Flag} */
const FILE = /** @type {const} */ ({
  type: 'text',
  help: 'file that the accounts and secrets are added to, a line each, instead of being printed; its owner alone may read it',
});

/** The flags of each command. @satisfies {Record<string, Record<string, Flag>>} */
const FLAGS = {
  issue: {
    devices: {
      type: 'text',
      help: 'further devices that each may speak for, as a gateway does; comma-separated, one whose name has a comma by its UUID; to change them, revoke and issue anew',
    },
    file: FILE,
  },
  list: {},
  rotate: { file: FILE },
  revoke: {},
  mosquitto: { out: { type: 'text', help: 'directory for passwords and acl; both are replaced' } },
};

/**
 * @typedef {object} Arguments
 * @property {keyof typeof FLAGS} command
 * @property {string[]} accounts
 * @property {string[]} devices
 * @property {string} out a directory
 * @property {string} [file] for secrets
 */

/**
 * @param {string[]} argv without node and script
 * @returns {Arguments}
 * @throws {MillraceError} `usage`, `help`
 */
export function readArguments(argv) {
  const [command = '', ...rest] = argv;
  if (command === '--help') throw new MillraceError('help', HELP);
  if (!isCommand(command)) {
    throw new MillraceError('usage', `${command ? `"${command}" is not known.\n\n` : ''}${HELP}`);
  }
  const flagsAt = rest.findIndex((word) => word.startsWith('-'));
  const accounts = flagsAt < 0 ? rest : rest.slice(0, flagsAt);
  /** @type {Record<string, any>} */
  const given = parseFlags(`${COMMAND} ${command}`, FLAGS[command], flagsAt < 0 ? [] : rest.slice(flagsAt));
  if (takesAccounts(command) !== accounts.length > 0) {
    const says = takesAccounts(command)
      ? `${command} takes one account or more`
      : `"${accounts[0]}" is no flag`;
    throw new MillraceError('usage', says);
  }
  if (command === 'mosquitto' && !given['out']) throw new MillraceError('usage', 'mosquitto takes --out DIR');
  const devices = given['devices'] === undefined ? [] : String(given['devices']).split(',');
  return { command, accounts, devices, out: given['out'] ?? '', file: given['file'] };
}

/** @param {string} word @returns {word is keyof typeof FLAGS} */
const isCommand = (word) => Object.hasOwn(FLAGS, word);

/** @param {string} command */
const takesAccounts = (command) => ['issue', 'rotate', 'revoke'].includes(command);
