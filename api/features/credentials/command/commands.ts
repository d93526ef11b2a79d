import { credentialLine, openCredentialsFile } from '../../../../common/credentials-file.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { printable, shortened } from '../../../../common/printable.ts';
import { formatTime } from '../../../../common/times.ts';
import type { Issued } from '../credential-service.ts';
import type { Credential } from '../store.ts';
import type { CommandParts } from './command.ts';

const ONCE = 'The secret is shown once: only a salted hash is stored.';
const BIRTH =
  'A device registers by its birth, which it publishes before its first measurement: iot/v1/ACCOUNT/birth {"sensors":[{"sensor_id":"…"}]}.';

/** These concern a single account, so the command continues with the next one. */
const ACCOUNT_ERRORS = new Set(['bad_id', 'credential_exists', 'not_found']);

export async function issue(parts: CommandParts) {
  const { credentialService, given, note, autoRegister } = parts;
  const completed = await outputEach(parts, (account) =>
    credentialService.issue({ account, devices: given.devices }),
  );
  if (completed > 0) note(autoRegister ? ONCE : `${ONCE} ${BIRTH}`);
  requireAll(parts, completed);
}

export async function rotate(parts: CommandParts) {
  const { credentialService, note } = parts;
  const completed = await outputEach(parts, credentialService.rotate);
  if (completed > 0) {
    note(
      `${ONCE} The old secrets are no longer valid. Clients that use one are disconnected within half a minute.`,
    );
  }
  requireAll(parts, completed);
}

export async function revoke(parts: CommandParts) {
  const { credentialService, note } = parts;
  const completed = await forEachAccount(parts, async (account) => {
    await credentialService.revoke(account);
    note(`${printable(account)}: revoked. If it is connected, it is disconnected within half a minute.`);
  });
  requireAll(parts, completed);
}

export async function list({ credentialService, print, note }: CommandParts) {
  let shown = 0;
  for await (const row of credentialService.all()) {
    print(lineOf(row));
    shown++;
  }
  if (shown === 0) note('No device has a credential.');
}

/**
 * Prints each secret, or adds it to the file, before it makes the next one. So a failure half-way loses no secret. Returns the number of
 * accounts that succeeded.
 */
async function outputEach(parts: CommandParts, make: (account: string) => Promise<Issued>): Promise<number> {
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

/** Reports the error of an account and continues with the next one. Returns the number of accounts that succeeded. */
async function forEachAccount(
  { given, note }: CommandParts,
  act: (account: string) => Promise<void>,
): Promise<number> {
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

/** @throws `failed` */
function requireAll({ given: { command, accounts } }: CommandParts, completed: number) {
  if (completed === accounts.length) return;
  throw new MillraceError('failed', `${command}: done for ${completed} of ${accounts.length}.`);
}

function lineOf({ deviceId, account, devices, issuedAt, changedAt }: Credential) {
  const words = [deviceId, shortened(account), `issued ${formatTime(issuedAt)}`];
  if (changedAt !== issuedAt) words.push(`changed ${formatTime(changedAt)}`);
  if (devices.length > 0) words.push(`speaks for ${shortened(devices.join(', '))}`);
  return words.join('  ');
}
