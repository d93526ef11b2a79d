import { credentialLine, openCredentialsFile } from '../../common/credentials-file.js';
import { printable } from '../../common/printable.js';
import { formatTime } from '../../common/times.js';
import { shortened } from '../dead-letters/text.js';

const ONCE = 'Told this once: only a salted hash is kept.';

/** @typedef {import('./index.js').CommandParts} CommandParts */

/** @param {CommandParts} parts */
export async function issue(parts) {
  const { keeper, given, note } = parts;
  await tellEach(parts, (account) => keeper.issue({ account, devices: given.devices }));
  note(ONCE);
}

/** @param {CommandParts} parts */
export async function rotate(parts) {
  const { keeper, note } = parts;
  await tellEach(parts, keeper.rotate);
  note(
    `${ONCE} The old ones are good no more; who is connected with one is disconnected within half a minute.`,
  );
}

/** @param {CommandParts} parts */
export async function revoke({ keeper, given, note }) {
  for (const account of given.accounts) {
    await keeper.revoke(account);
    note(`${printable(account)}: revoked; if it is connected, it is disconnected within half a minute.`);
  }
}

/** @param {CommandParts} parts */
export async function list({ keeper, say, note }) {
  let shown = 0;
  for await (const row of keeper.all()) {
    say(lineOf(row));
    shown++;
  }
  if (shown === 0) note('No device has a credential.');
}

/**
 * Each secret is told, or is in the file, before the next one is made: what fails half-way has lost none.
 *
 * @param {CommandParts} parts
 * @param {(account: string) => Promise<import('./keeper.js').Issued>} make
 */
async function tellEach({ given, say }, make) {
  const file = given.file === undefined ? null : await openCredentialsFile(given.file);
  try {
    for (const wanted of given.accounts) {
      const { credential, secret } = await make(wanted);
      if (file) await file.add(credential.account, secret);
      else say(credentialLine(credential.account, secret));
    }
  } finally {
    await file?.close();
  }
}

/** @param {import('../store/credentials.js').Credential} credential */
function lineOf({ deviceId, account, devices, issuedAt, changedAt }) {
  const words = [deviceId, shortened(account), `issued ${formatTime(issuedAt)}`];
  if (changedAt !== issuedAt) words.push(`changed ${formatTime(changedAt)}`);
  if (devices.length > 0) words.push(`speaks for ${shortened(devices.join(', '))}`);
  return words.join('  ');
}
