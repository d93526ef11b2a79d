import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../common/printable.js';
import { INSTALLATION_RIGHTS, isFit, passwordLine, rightsLines } from './mosquitto-files.js';
import { hashSecret } from './secret.js';

/**
 * Writes Mosquitto's `password_file` and `acl_file`: every account that has a credential, and the installation's own.
 *
 * @param {import('./index.js').CommandParts} parts
 */
export async function mosquitto({ keeper, given, installation, note }) {
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
  for await (const credential of keeper.all()) {
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
  await replace(join(given.out, 'passwords'), passwords);
  await replace(join(given.out, 'acl'), rights);
  note(
    `${written === 1 ? '1 device' : `${written} devices`} in ${join(given.out, 'passwords')} and ${join(given.out, 'acl')}. ${AFTERWARDS}`,
  );
}

const TAKEN = 'MQTT_USERNAME has this name.';
const UNFIT =
  'A user name in the files of Mosquitto has no colon, no # at its beginning and no space at its ends: issue it by the UUID of the device.';
const AFTERWARDS =
  'Both belong to the user that Mosquitto runs as. Send it SIGHUP: it reads them again, and disconnects whose password is good no more.';

/** Whoever reads finds the whole of the old one, or of the new one. @param {string} path @param {string[]} lines */
async function replace(path, lines) {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  await rename(draft, path);
}
