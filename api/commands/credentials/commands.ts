import { credentialLine, openCredentialsFile } from '../../../common/credentials-file.js';
import { MillraceError } from '../../../common/errors.js';
import { printable, shortened } from '../../../common/printable.js';
import { formatTime } from '../../../common/times.js';

/** @import { Issued } from '../../access/credentials/credential-service.js' */
/** @import { Credential } from '../../store/credentials.js' */
/** @import { CommandParts } from './command.js' */

const ONCE = 'The secret is shown once: only a salted hash is stored.';
const BIRTH =
  'A device registers by its birth, which it publishes before its first measurement: iot/v1/ACCOUNT/birth {"sensors":[{"sensor_id":"…"}]}.';

/** Codes of errors that concern a single account. After such an error, the command continues with the next account. */
const ACCOUNT_ERRORS = new Set(['bad_id', 'credential_exists', 'not_found']);

/** @param {CommandParts} parts */
export async function issue(parts) {
  const { credentialService, given, note, autoRegister } = parts;
  const completed = await outputEach(parts, (account) =>
    credentialService.issue({ account, devices: given.devices }),
  );
  if (completed > 0) note(autoRegister ? ONCE : `${ONCE} ${BIRTH}`);
  requireAll(parts, completed);
}

/** @param {CommandParts} parts */
export async function rotate(parts) {
  const { credentialService, note } = parts;
  const completed = await outputEach(parts, credentialService.rotate);
  if (completed > 0) {
    note(
      `${ONCE} The old secrets are no longer valid. Clients that use one are disconnected within half a minute.`,
    );
  }
  requireAll(parts, completed);
}

/** @param {CommandParts} parts */
export async function revoke(parts) {
  const { credentialService, note } = parts;
  const completed = await forEachAccount(parts, async (account) => {
    await credentialService.revoke(account);
    note(`${printable(account)}: revoked. If it is connected, it is disconnected within half a minute.`);
  });
  requireAll(parts, completed);
}

/** @param {CommandParts} parts */
export async function list({ credentialService, print, note }) {
  let shown = 0;
  for await (const row of credentialService.all()) {
    print(lineOf(row));
    shown++;
  }
  if (shown === 0) note('No device has a credential.');
}

/**
 * Makes a secret for each account. It prints each secret, or adds it to the file, before it makes the next secret. So a failure
 * half-way loses no secret.
 *
 * @param {CommandParts} parts
 * @param {(account: string) => Promise<Issued>} make
 * @returns {Promise<number>} number of accounts that succeeded
 */
async function outputEach(parts, make) {
  const { given, print } = parts;
  const file = given.file === undefined ? null : await openCredentialsFile(given.file);
  try {
    return await forEachAccount(parts, async (wanted) => {
      const { credential, secret } = await make(wanted);
      if (file) await file.add(credential.account, secret);
      else print(credentialLine(credential.account, secret));
    });
  } finally {
    await file?.close();
  }
}

/**
 * Runs an action for each account. It reports the error of an account and continues with the next account.
 *
 * @param {CommandParts} parts
 * @param {(account: string) => Promise<void>} act
 * @returns {Promise<number>} number of accounts that succeeded
 */
async function forEachAccount({ given, note }, act) {
  let completed = 0;
  for (const account of given.accounts) {
    try {
      await act(account);
      completed++;
    } catch (error) {
      if (!(error instanceof MillraceError) || !ACCOUNT_ERRORS.has(error.code)) throw error;
      note(`${printable(account)}: ${error.message}`);
    }
  }
  return completed;
}

/** @param {CommandParts} parts @param {number} completed @throws {MillraceError} `failed` */
function requireAll({ given: { command, accounts } }, completed) {
  if (completed === accounts.length) return;
  throw new MillraceError('failed', `${command}: done for ${completed} of ${accounts.length}.`);
}

/** @param {Credential} credential */
function lineOf({ deviceId, account, devices, issuedAt, changedAt }) {
  const words = [deviceId, shortened(account), `issued ${formatTime(issuedAt)}`];
  if (changedAt !== issuedAt) words.push(`changed ${formatTime(changedAt)}`);
  if (devices.length > 0) words.push(`speaks for ${shortened(devices.join(', '))}`);
  return words.join('  ');
}
