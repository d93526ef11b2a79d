import { credentialLine, openCredentialsFile } from '../../../common/credentials-file.js';
import { MillraceError } from '../../../common/errors.js';
import { printable, shortened } from '../../../common/printable.js';
import { formatTime } from '../../../common/times.js';

/** @import { Issued } from '../../access/credentials/credential-service.js' */
/** @import { Credential } from '../../store/credentials.js' */
/** @import { CommandParts } from './index.js' */

const ONCE = 'Told this once: only a salted hash is kept.';
const BIRTH =
  'A device is known by its birth, which it publishes before its first measurement: iot/v1/ACCOUNT/birth {"sensors":[{"sensor_id":"…"}]}.';

/** What is wrong with one account, and not with the next. */
const OF_ONE = new Set(['bad_id', 'credential_exists', 'not_found']);

/** @param {CommandParts} parts */
export async function issue(parts) {
  const { credentialService, given, note, autoRegister } = parts;
  const done = await tellEach(parts, (account) =>
    credentialService.issue({ account, devices: given.devices }),
  );
  if (done > 0) note(autoRegister ? ONCE : `${ONCE} ${BIRTH}`);
  insistOnAll(parts, done);
}

/** @param {CommandParts} parts */
export async function rotate(parts) {
  const { credentialService, note } = parts;
  const done = await tellEach(parts, credentialService.rotate);
  if (done > 0) {
    note(
      `${ONCE} The old ones are good no more; who is connected with one is disconnected within half a minute.`,
    );
  }
  insistOnAll(parts, done);
}

/** @param {CommandParts} parts */
export async function revoke(parts) {
  const { credentialService, note } = parts;
  const done = await each(parts, async (account) => {
    await credentialService.revoke(account);
    note(`${printable(account)}: revoked; if it is connected, it is disconnected within half a minute.`);
  });
  insistOnAll(parts, done);
}

/** @param {CommandParts} parts */
export async function list({ credentialService, say, note }) {
  let shown = 0;
  for await (const row of credentialService.all()) {
    say(lineOf(row));
    shown++;
  }
  if (shown === 0) note('No device has a credential.');
}

/**
 * Each secret is told, or is in the file, before the next one is made: what fails half-way has lost none.
 *
 * @param {CommandParts} parts
 * @param {(account: string) => Promise<Issued>} make
 * @returns {Promise<number>} of how many accounts
 */
async function tellEach(parts, make) {
  const { given, say } = parts;
  const file = given.file === undefined ? null : await openCredentialsFile(given.file);
  try {
    return await each(parts, async (wanted) => {
      const { credential, secret } = await make(wanted);
      if (file) await file.add(credential.account, secret);
      else say(credentialLine(credential.account, secret));
    });
  } finally {
    await file?.close();
  }
}

/**
 * What is wrong with one account is said, and keeps none of the others from it.
 *
 * @param {CommandParts} parts
 * @param {(account: string) => Promise<void>} act
 * @returns {Promise<number>} for how many it is done
 */
async function each({ given, note }, act) {
  let done = 0;
  for (const account of given.accounts) {
    try {
      await act(account);
      done++;
    } catch (error) {
      if (!(error instanceof MillraceError) || !OF_ONE.has(error.code)) throw error;
      note(`${printable(account)}: ${error.message}`);
    }
  }
  return done;
}

/** @param {CommandParts} parts @param {number} done @throws {MillraceError} `failed` */
function insistOnAll({ given: { command, accounts } }, done) {
  if (done === accounts.length) return;
  throw new MillraceError('failed', `${command}: done for ${done} of ${accounts.length}.`);
}

/** @param {Credential} credential */
function lineOf({ deviceId, account, devices, issuedAt, changedAt }) {
  const words = [deviceId, shortened(account), `issued ${formatTime(issuedAt)}`];
  if (changedAt !== issuedAt) words.push(`changed ${formatTime(changedAt)}`);
  if (devices.length > 0) words.push(`speaks for ${shortened(devices.join(', '))}`);
  return words.join('  ');
}
