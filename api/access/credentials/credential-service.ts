import pLimit from 'p-limit';
import { MillraceError } from '../../../common/errors.js';
import { identifyDevice, uuidBytes } from '../../../schema/ids.js';
import { hashSecret, makeSecret } from './secret.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Credential, CredentialPlace, CredentialStore, NewCredential } from '../../store/credentials.js' */

/** Limit of further devices that one account may publish for. */
export const MAX_DEVICES = 1000;

/** Number of rows in a page of credentials. */
const PAGE = 1000;

/**
 * A new credential and its secret. The secret is returned only this once, and only its hash is stored.
 *
 * @typedef {{ credential: NewCredential, secret: string }} Issued
 */

/**
 * Returns functions that issue, rotate and revoke the credentials of devices.
 *
 * @param {object} deps
 * @param {CredentialStore} deps.store
 * @param {() => number} deps.clock epoch ms
 * @param {string} [deps.installation] the account name of the installation, which no device may have
 * @param {(deviceId: string) => Promise<void>} [deps.onChange] called for each credential that is no longer valid
 */
export function createCredentialService({ store, clock, installation, onChange = async () => {} }) {
  const update = createCredentialUpdater({ store, clock, onChange });

  /** @param {Buffer} device @returns {Promise<boolean>} whether the device had a valid credential */
  async function revoke(device) {
    let wasValid = false;
    await update(device, (before) => {
      if (!before?.hash) return before;
      wasValid = true;
      return { ...before, hash: '' };
    });
    return wasValid;
  }

  /** @returns {AsyncGenerator<Credential>} all valid credentials */
  async function* all() {
    /** @type {CredentialPlace | null} */
    let after = null;
    do {
      /** @type {Awaited<ReturnType<typeof store.page>>} */
      const { rows, next } = await store.page({ after, limit: PAGE });
      yield* rows;
      after = next;
    } while (after);
  }

  /** @param {string} id @returns {Promise<boolean>} whether any gateway could publish for the device */
  async function removeFromGateways(id) {
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

    /**
     * @param {{ account: string, devices?: string[] }} wanted names or ids
     * @returns {Promise<Issued>}
     * @throws {MillraceError} `bad_id`, `credential_exists`, `unavailable`
     */
    async issue({ account, devices = [] }) {
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
      return { credential: /** @type {NewCredential} */ (credential), secret };
    },

    /**
     * @param {string} account name or id of the device
     * @returns {Promise<Issued>}
     * @throws {MillraceError} `bad_id`, `not_found`, `unavailable`
     */
    async rotate(account) {
      const { bytes } = identify(account);
      const { secret, hash } = await makeHashed();
      const credential = await update(bytes, (before) =>
        before?.hash === hash ? before : { ...requireValid(before), hash },
      );
      return { credential: /** @type {NewCredential} */ (credential), secret };
    },

    /** @param {string} account name or id of the device @throws {MillraceError} `bad_id`, `not_found`, `unavailable` */
    async revoke(account) {
      if (!(await revoke(identify(account).bytes))) throw noCredential();
    },

    /**
     * Revokes the credential of a device, and removes the device from the list of every gateway. It reads all accounts.
     *
     * @param {Identity} device
     * @returns {Promise<boolean>} whether any account could publish for the device
     */
    async forget({ id, bytes }) {
      const own = await revoke(bytes);
      const others = await removeFromGateways(id);
      return own || others;
    },
  };
}

/** @typedef {ReturnType<typeof createCredentialService>} CredentialService */

/** @param {string[]} devices names or ids @param {string} id */
const without = (devices, id) => devices.filter((device) => identifyDevice(device)?.id !== id);

/** @param {string} text @throws {MillraceError} `bad_id` */
function identify(text) {
  const identity = identifyDevice(text);
  if (identity) return identity;
  throw new MillraceError('bad_id', 'An account is the name of a device, 1 to 128 bytes, or its UUID.');
}

async function makeHashed() {
  const secret = makeSecret();
  return { secret, hash: await hashSecret(secret) };
}

const noCredential = () => new MillraceError('not_found', 'This account has no credential.');

/** @param {Credential | null} credential @throws {MillraceError} `not_found` */
function requireValid(credential) {
  if (!credential?.hash) throw noCredential();
  return credential;
}

/** @typedef {Omit<NewCredential, 'issuedAt' | 'changedAt'> & { issuedAt?: number }} Wanted */

/**
 * Returns a function that updates a credential by compare-and-set. After a concurrent update by another process it reads the row
 * and decides again. So a concurrent rotation cannot undo a revocation, and a rotation after a revocation fails. An attempt
 * fails only if the update of another process succeeded, so the loop ends.
 *
 * @param {object} deps
 * @param {Pick<CredentialStore, 'find' | 'replace'>} deps.store
 * @param {() => number} deps.clock epoch ms
 * @param {(deviceId: string) => Promise<void>} deps.onChange called for each credential that is no longer valid
 */
export function createCredentialUpdater({ store, clock, onChange }) {
  // Concurrent lightweight transactions on one partition slow each other down.
  const oneAtATime = pLimit(1);

  /** @param {Wanted} wanted @param {Credential | null} before @returns {NewCredential} */
  function dated(wanted, before) {
    // `changedAt` must differ for each state of the row, even if the clocks of the processes differ.
    const changedAt = Math.max(clock(), (before?.changedAt ?? 0) + 1);
    return { ...wanted, issuedAt: wanted.issuedAt ?? changedAt, changedAt };
  }

  /**
   * @param {Buffer} device the 16 bytes of the device id
   * @param {(before: Credential | null) => Wanted | null} decide returns the new state; to change nothing, it returns its
   *   argument. The driver repeats a request whose answer was lost, so `decide` may get its own result as `before`
   * @returns {Promise<NewCredential | null>} the new state
   * @throws {MillraceError} `unavailable`: the update may have been applied
   */
  return async function update(device, decide) {
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

/** @typedef {(device: Identity) => Promise<boolean>} Retire */

/**
 * Returns a function that revokes the credential of a device and then retires the device. In the other order, a connected device
 * could register again.
 *
 * @param {object} deps
 * @param {Retire} deps.retire
 * @param {CredentialService['forget']} deps.forget
 * @returns {Retire} resolves to false if the device was not registered and had no credential
 */
export const revokeBefore =
  ({ retire, forget }) =>
  async (device) => {
    const revoked = await forget(device);
    const retired = await retire(device);
    return revoked || retired;
  };
