import { MillraceError } from '../../common/errors.js';
import { identifyDevice } from '../../schema/ids.js';
import { hashSecret, makeSecret } from './secret.js';

/** Devices that one account may speak for beside itself. */
export const MOST_DEVICES = 1000;

/** Rows read at a time. */
const PAGE = 1000;

/** @typedef {import('../store/credentials.js').Credential} Credential */

/** @typedef {{ credential: Credential, secret: string }} Issued the secret is told once, and not kept */

/**
 * Gives out credentials and takes them back.
 *
 * @param {object} parts
 * @param {import('../store/credentials.js').CredentialStore} parts.store
 * @param {() => number} parts.clock epoch ms
 * @param {string} [parts.installation] the name of the installation's own account, which no device may have
 * @param {(deviceId: string) => Promise<void>} [parts.onChange] told of every credential that was good and is no more
 */
export function createKeeper({ store, clock, installation, onChange = async () => {} }) {
  /**
   * @param {Pick<Credential, 'deviceId' | 'account' | 'devices'> & { issuedAt?: number }} whose
   * @param {Credential | null} before
   * @param {string} hash
   * @returns {Promise<Credential>}
   */
  async function write({ deviceId, account, devices, issuedAt }, before, hash) {
    const now = clock();
    const stamp = Math.max(now * 1000, (before?.stamp ?? 0) + 1);
    const credential = {
      deviceId,
      account,
      hash,
      devices,
      issuedAt: issuedAt ?? now,
      changedAt: now,
      stamp,
    };
    await store.write(credential);
    if (before?.hash) await onChange(deviceId);
    return credential;
  }

  /** @param {string} account @returns {Promise<Credential>} that is good @throws {MillraceError} `bad_id`, `not_found` */
  async function find(account) {
    const found = await store.find(identify(account).bytes);
    if (!found?.hash) throw new MillraceError('not_found', 'This account has no credential.');
    return found;
  }

  /** @returns {AsyncGenerator<Credential>} all that are good */
  async function* all() {
    /** @type {import('../store/credentials.js').CredentialPlace | null} */
    let after = null;
    do {
      /** @type {Awaited<ReturnType<typeof store.page>>} */
      const { rows, next } = await store.page({ after, limit: PAGE });
      yield* rows;
      after = next;
    } while (after);
  }

  /** @param {string} id @returns {Promise<boolean>} whether any account but its own could speak for it */
  async function takeFromGateways(id) {
    let found = false;
    for await (const gateway of all()) {
      const devices = gateway.devices.filter((device) => identifyDevice(device)?.id !== id);
      if (devices.length === gateway.devices.length) continue;
      found = true;
      await write({ ...gateway, devices }, gateway, gateway.hash);
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
      if (devices.length > MOST_DEVICES) {
        throw new MillraceError('bad_id', `An account speaks for ${MOST_DEVICES} further devices at most.`);
      }
      if (account === installation) {
        throw new MillraceError('credential_exists', 'MQTT_USERNAME has this name.');
      }
      const before = await store.find(bytes);
      if (before?.hash) throw new MillraceError('credential_exists');
      const secret = makeSecret();
      const whose = { deviceId: id, account, devices: [...new Set(devices)] };
      return { credential: await write(whose, before, await hashSecret(secret)), secret };
    },

    /** @param {string} account its name or id @returns {Promise<Issued>} @throws {MillraceError} `bad_id`, `not_found`, `unavailable` */
    async rotate(account) {
      const before = await find(account);
      const secret = makeSecret();
      return { credential: await write(before, before, await hashSecret(secret)), secret };
    },

    /** @param {string} account its name or id @throws {MillraceError} `bad_id`, `not_found`, `unavailable` */
    async revoke(account) {
      const before = await find(account);
      await write(before, before, '');
    },

    /**
     * Nobody may speak for a device any more: neither itself nor a gateway that had it on its list. All accounts are read for it.
     *
     * @param {import('../../schema/ids.js').Identity} device
     * @returns {Promise<boolean>} whether anybody could
     */
    async forget({ id, bytes }) {
      const before = await store.find(bytes);
      if (before?.hash) await write(before, before, '');
      const others = await takeFromGateways(id);
      return others || Boolean(before?.hash);
    },
  };
}

/** @typedef {ReturnType<typeof createKeeper>} Keeper */

/** @param {string} text @throws {MillraceError} `bad_id` */
function identify(text) {
  const identity = identifyDevice(text);
  if (identity) return identity;
  throw new MillraceError('bad_id', 'An account is the name of a device, 1 to 128 bytes, or its UUID.');
}
