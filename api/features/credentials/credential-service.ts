import pLimit from 'p-limit';
import { MillraceError } from '../../../common/errors.ts';
import { type DeviceBytes, type Identity, identifyDevice, uuidBytes } from '../../../schema/ids.ts';
import { hashSecret, makeSecret } from './secret.ts';
import type { Credential, CredentialPlace, CredentialStore, NewCredential } from './store.ts';

export const MAX_DEVICES = 1000;

const PAGE = 1000;

/** The secret is returned only this once, and only its hash is stored. */
export type Issued = { credential: NewCredential; secret: string };

export function createCredentialService({
  store,
  clock,
  installation,
  onChange = async () => {},
}: {
  store: CredentialStore;
  /** epoch ms */
  clock: () => number;
  /** the account name of the installation, which no device may have */
  installation?: string;
  onChange?: (deviceId: string) => Promise<void>;
}) {
  const update = createCredentialUpdater({ store, clock, onChange });

  async function revoke(device: DeviceBytes): Promise<boolean> {
    let wasValid = false;
    await update(device, (before) => {
      if (!before?.hash) return before;
      wasValid = true;
      return { ...before, hash: '' };
    });
    return wasValid;
  }

  async function* all(): AsyncGenerator<Credential> {
    let after: CredentialPlace | null = null;
    do {
      const { rows, next }: Awaited<ReturnType<typeof store.page>> = await store.page({ after, limit: PAGE });
      yield* rows;
      after = next;
    } while (after);
  }

  async function removeFromGateways(id: string): Promise<boolean> {
    let found = false;
    for await (const { deviceId, devices } of all()) {
      if (without(devices, id).length === devices.length) continue;
      await update(uuidBytes(deviceId), (before) => {
        const others = without(before?.devices ?? [], id);
        if (!before?.hash || others.length === before.devices.length) return before;
        found = true;
        return { ...before, devices: others };
      });
    }
    return found;
  }

  return {
    page: store.page,
    all,

    /** @throws `bad_id`, `credential_exists`, `unavailable` */
    async issue({ account, devices = [] }: { account: string; devices?: string[] }): Promise<Issued> {
      const { id, bytes } = identify(account);
      for (const device of devices) identify(device);
      if (devices.length > MAX_DEVICES) {
        throw new MillraceError('bad_id', `An account speaks for ${MAX_DEVICES} further devices at most.`);
      }
      if (account === installation) {
        throw new MillraceError('credential_exists', 'MQTT_USERNAME has this name.');
      }
      const { secret, hash } = await makeHashed();
      const credential = await update(bytes, (before) => {
        if (before?.hash === hash) return before;
        if (before?.hash) throw new MillraceError('credential_exists');
        return { deviceId: id, account, hash, devices: [...new Set(devices)] };
      });
      return { credential: credential as NewCredential, secret };
    },

    /** @throws `bad_id`, `not_found`, `unavailable` */
    async rotate(account: string): Promise<Issued> {
      const { bytes } = identify(account);
      const { secret, hash } = await makeHashed();
      const credential = await update(bytes, (before) =>
        before?.hash === hash ? before : { ...requireValid(before), hash },
      );
      return { credential: credential as NewCredential, secret };
    },

    /** @throws `bad_id`, `not_found`, `unavailable` */
    async revoke(account: string) {
      if (!(await revoke(identify(account).bytes))) throw noCredential();
    },

    /** Also removes the device from every gateway, so it reads all accounts. Returns whether any account could publish for it. */
    async forget({ id, bytes }: Identity): Promise<boolean> {
      const own = await revoke(bytes);
      const others = await removeFromGateways(id);
      return own || others;
    },
  };
}

export type CredentialService = ReturnType<typeof createCredentialService>;

const without = (devices: string[], id: string) =>
  devices.filter((device) => identifyDevice(device)?.id !== id);

function identify(text: string) {
  const identity = identifyDevice(text);
  if (identity) return identity;
  throw new MillraceError('bad_id', 'An account is the name of a device, 1 to 128 bytes, or its UUID.');
}

async function makeHashed() {
  const secret = makeSecret();
  return { secret, hash: await hashSecret(secret) };
}

const noCredential = () => new MillraceError('not_found', 'This account has no credential.');

function requireValid(credential: Credential | null) {
  if (!credential?.hash) throw noCredential();
  return credential;
}

export type Wanted = Omit<NewCredential, 'issuedAt' | 'changedAt'> & { issuedAt?: number };

/**
 * Updates a credential by compare-and-set. After a concurrent update it reads the row and decides again, so a rotation
 * cannot undo a revocation. An attempt fails only if another update succeeded, so the loop ends.
 */
export function createCredentialUpdater({
  store,
  clock,
  onChange,
}: {
  store: Pick<CredentialStore, 'find' | 'replace'>;
  /** epoch ms */
  clock: () => number;
  onChange: (deviceId: string) => Promise<void>;
}) {
  // Concurrent lightweight transactions on one partition slow each other down.
  const oneAtATime = pLimit(1);

  function dated(wanted: Wanted, before: Credential | null): NewCredential {
    // `changedAt` must differ for each state of the row, even if the clocks of the processes differ.
    const changedAt = Math.max(clock(), (before?.changedAt ?? 0) + 1);
    return { ...wanted, issuedAt: wanted.issuedAt ?? changedAt, changedAt };
  }

  /**
   * @param decide returns its argument to change nothing. The driver repeats a request whose answer was lost, so `decide`
   * may get its own result as `before`
   * @throws `unavailable`: the update may have been applied
   */
  return async function update(
    device: DeviceBytes,
    decide: (before: Credential | null) => Wanted | null,
  ): Promise<NewCredential | null> {
    let wasValid = false;
    const result = await oneAtATime(async () => {
      for (;;) {
        const before = await store.find(device);
        const wanted = decide(before);
        if (wanted === null || wanted === before) return before;
        if (before?.hash) wasValid = true;
        const next = dated(wanted, before);
        if (await store.replace(next, before)) return next;
      }
    });
    if (result && wasValid) await onChange(result.deviceId);
    return result;
  };
}
