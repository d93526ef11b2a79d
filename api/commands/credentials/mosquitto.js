import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../../common/printable.js';
import { hashSecret } from '../../access/credentials/secret.js';
import { INSTALLATION_RIGHTS, isFit, passwordLine, rightsLines } from './mosquitto-files.js';
import { replaceFile } from './replace-file.js';

/** @import { CommandParts } from './index.js' */

/**
 * Writes Mosquitto's `password_file` and `acl_file`: every account that has a credential, and the installation's own.
 *
 * @param {CommandParts} parts
 */
export async function mosquitto({ credentialService, given, installation, note }) {
  const { username, password } = installation;
  /** @type {string[]} */
  const passwords = [];
  /** @type {string[]} */
  const rights = [];
  if (username && password && isFit(username)) {
    passwords.push(passwordLine(username, await hashSecret(password)));
    rights.push(`user ${username}`, ...INSTALLATION_RIGHTS, '');
  } else {
    note(
      'MQTT_USERNAME and MQTT_PASSWORD are not both set, or no name for Mosquitto: our own programs cannot sign in.',
    );
  }
  let written = 0;
  for await (const credential of credentialService.all()) {
    const { account, hash } = credential;
    if (account === username || !isFit(account)) {
      note(`${printable(account)}: left out. ${account === username ? TAKEN : UNFIT}`);
      continue;
    }
    passwords.push(passwordLine(account, hash));
    rights.push(...rightsLines(credential), '');
    written++;
  }
  await mkdir(given.out, { recursive: true, mode: 0o700 });
  const files = { passwords: join(given.out, 'passwords'), acl: join(given.out, 'acl') };
  const states = [
    await replaceFile(files.passwords, text(passwords)),
    await replaceFile(files.acl, text(rights)),
  ];
  note(`${written === 1 ? '1 device' : `${written} devices`} in ${files.passwords} and ${files.acl}.`);
  if (!states.every(({ isHandedOver }) => isHandedOver)) note(handOver(given.out));
  note(AFTERWARDS);
}

/** @param {string[]} lines */
const text = (lines) => lines.map((line) => `${line}\n`).join('');

const TAKEN = 'MQTT_USERNAME has this name.';
const UNFIT =
  'A user name in the files of Mosquitto has no colon, no # at its beginning and no space at its ends: issue it by the UUID of the device.';
const AFTERWARDS =
  'Send Mosquitto SIGHUP: it reads both again, and disconnects whose password is good no more.';

/** @param {string} directory */
const handOver = (directory) =>
  `Nobody but their owner can read them. Where Mosquitto runs as another user: chown -R mosquitto: ${directory}. What is written anew stays with its owner.`;
