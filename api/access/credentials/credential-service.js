import pLimit from 'p-limit';
import { MillraceError } from '../../../common/errors.js';
import { identifyDevice, uuidBytes } from '../../../schema/ids.js';
import { hashSecret, makeSecret } from './secret.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Credential, CredentialPlace, CredentialStore, NewCredential } from '../../store/credentials.js' */

/** Devices that one account may speak for beside itself. */
export const MOST_DEVICES = 1000;

/** Rows read at a time. */
const PAGE = 1000;

/** @typedef {{ credential: NewCredential, secret: string }} Issued the secret is told once, and not kept */

/**
 * Gives out credentials and takes them back.
 *
 * @param {object} parts
 * @param {CredentialStore} parts.store
 * @param {() => number} parts.clock epoch ms
 * @param {string} [parts.installation] the name of the installation's own account, which no device may have
 * @param {(deviceId: string) => Promise<void>} [parts.onChange] told of every credential that was good and is no more
 */
export function createCredentialService({ store, clock, installation, onChange = async () => {} }) {
  const change = createChanges({ store, clock, onChange });

  /** @param {Buffer} device @returns {Promise<boolean>} whether it was good until now */
  async function take(device) {
    let wasGood = false;
    await change(device, (before) => {
      if (!before?.hash) return before;
      wasGood = true;
      return { ...before, hash: '' };
    });
    return wasGood;
  }

  /** @returns {AsyncGenerator<Credential>} all that are good */
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

  /** @param {string} id @returns {Promise<boolean>} whether any account but its own could speak for it */
  async function takeFromGateways(id) {
    let found = false;
    for await (const { deviceId, devices } of all()) {
      if (without(devices, id).length === devices.length) continue;
      await change(uuidBytes(deviceId), (before) => {
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
      if (devices.length > MOST_DEVICES) {
        throw new MillraceError('bad_id', `An account speaks for ${MOST_DEVICES} further devices at most.`);
      }
      if (account === installation) {
        throw new MillraceError('credential_exists', 'MQTT_USERNAME has this name.');
      }
      const { secret, hash } = await makeHashed();
      const credential = await change(bytes, (before) => {
        if (before?.hash === hash) return before;
        if (before?.hash) throw new MillraceError('credential_exists');
        return { deviceId: id, account, hash, devices: [...new Set(devices)] };
      });
      return { credential: /** @type {NewCredential} */ (credential), secret };
    },

    /** @param {string} account its name or id @returns {Promise<Issued>} @throws {MillraceError} `bad_id`, `not_found`, `unavailable` */
    async rotate(account) {
      const { bytes } = identify(account);
      const { secret, hash } = await makeHashed();
      const credential = await change(bytes, (before) =>
        before?.hash === hash ? before : { ...good(before), hash },
      );
      return { credential: /** @type {NewCredential} */ (credential), secret };
    },

    /** @param {string} account its name or id @throws {MillraceError} `bad_id`, `not_found`, `unavailable` */
    async revoke(account) {
      if (!(await take(identify(account).bytes))) throw noCredential();
    },

    /**
     * Nobody may speak for a device any more: neither itself nor a gateway that had it on its list. All accounts are read for it.
     *
     * @param {Identity} device
     * @returns {Promise<boolean>} whether anybody could
     */
    async forget({ id, bytes }) {
      const own = await take(bytes);
      const others = await takeFromGateways(id);
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
function good(credential) {
  if (!credential?.hash) throw noCredential();
  return credential;
}

/** @typedef {Omit<NewCredential, 'issuedAt' | 'changedAt'> & { issuedAt?: number }} Wanted */

/**
 * Changes credentials, each on the ground of what it is at that moment, whichever process changed it last: what another one made of
 * it in between is read, and decided upon, anew. So a revocation takes back what is rotated beside it, in whatever order they come,
 * and a rotation finds nothing to rotate any more. Every turn that is lost was won by somebody else.
 *
 * @param {object} parts
 * @param {Pick<CredentialStore, 'find' | 'replace'>} parts.store
 * @param {() => number} parts.clock epoch ms
 * @param {(deviceId: string) => Promise<void>} parts.onChange told of every credential that was good and is no more
 */
export function createChanges({ store, clock, onChange }) {
  // One after the other: transactions of one partition that meet hold each other up.
  const oneAtATime = pLimit(1);

  /** @param {Wanted} wanted @param {Credential | null} before @returns {NewCredential} */
  function dated(wanted, before) {
    // It tells one state of the row from the next, whatever the clocks of the processes say.
    const changedAt = Math.max(clock(), (before?.changedAt ?? 0) + 1);
    return { ...wanted, issuedAt: wanted.issuedAt ?? changedAt, changedAt };
  }

  /**
   * @param {Buffer} device the id's 16 bytes
   * @param {(before: Credential | null) => Wanted | null} decide what is to become of it; the same: nothing. Asked again, it may find
   *   its own doing: the driver repeats what was applied already, where the answer was lost
   * @returns {Promise<NewCredential | null>} what has become of it
   * @throws {MillraceError} `unavailable`: it may be done all the same
   */
  return async function change(device, decide) {
    let wasGood = false;
    const became = await oneAtATime(async () => {
      for (;;) {
        const before = await store.find(device);
        const wanted = decide(before);
        if (wanted === null || wanted === before) return before;
        if (before?.hash) wasGood = true;
        const next = dated(wanted, before);
        if (await store.replace(next, before)) return next;
      }
    });
    if (became && wasGood) await onChange(became.deviceId);
    return became;
  };
}

/** @typedef {(device: Identity) => Promise<boolean>} Retire */

/**
 * A device that is retired loses its rights first: while it is connected it would go on, and be registered anew.
 *
 * @param {object} parts
 * @param {Retire} parts.retire
 * @param {CredentialService['forget']} parts.forget
 * @returns {Retire} false: it was neither registered nor had it a credential
 */
export const revokeBefore =
  ({ retire, forget }) =>
  async (device) => {
    const revoked = await forget(device);
    const retired = await retire(device);
    return revoked || retired;
  };
