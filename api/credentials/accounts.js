import { LRUCache } from 'lru-cache';
import { sameSecret } from '../../common/same-secret.js';
import { identifyDevice } from '../../schema/ids.js';
import { createGuesses } from './guesses.js';
import { deviceAccount, installationAccount } from './rights.js';
import { isSecret } from './secret.js';
import { createTurnstile } from './turnstile.js';

/** Sign-ins that are looked up at once: however many knock, the database and the processor have room for what goes on inside. */
const MOST_AT_ONCE = 64;

/** Devices whose rights are remembered, all accounts together: a gateway's thousand names take milliseconds to be made ids of. */
const MOST_REMEMBERED = 50_000;

/** @typedef {import('./rights.js').Account} Account */

/**
 * Whoever wants to sign in.
 *
 * @typedef {object} Visitor
 * @property {string} address where it connects from
 * @property {AbortSignal} [gone] whoever asked is there no more
 */

/** @type {Visitor} */
const NOBODY = { address: '' };

/**
 * Who may connect to the embedded broker, and as whom: everybody, or, where MQTT_AUTH is on, devices with credentials and
 * the installation's own account.
 *
 * @param {object} parts
 * @param {Pick<import('../store/credentials.js').CredentialStore, 'find' | 'stamps'>} parts.store
 * @param {Pick<import('../../common/settings/index.js').Config['mqtt'], 'auth' | 'username' | 'password'>} parts.mqtt
 * @param {import('./guesses.js').Guesses} [parts.guesses] at the installation's password
 */
export function createAccounts({ store, mqtt, guesses = createGuesses() }) {
  const { auth, username, password } = mqtt;
  const turnstile = createTurnstile(MOST_AT_ONCE);
  const everybody = installationAccount('');

  /** @type {LRUCache<string, Account>} by device */
  const known = new LRUCache({ maxSize: MOST_REMEMBERED, sizeCalculation: ({ ids }) => ids.size });

  /** @param {string} name @param {Buffer} given @param {string} address */
  const isInstallation = (name, given, address) => {
    if (!username || !password) return false;
    // Both are compared whatever the first says.
    const [sameName, samePassword] = [sameSecret(name, username), sameSecret(given, password)];
    if (!sameName || guesses.areSpent(address)) return false;
    if (!samePassword) guesses.count(address);
    return samePassword;
  };

  /** @param {string} name @param {Buffer} given @returns {Promise<Account | null>} */
  async function device(name, given) {
    const identity = identifyDevice(name);
    const credential = identity && (await store.find(identity.bytes));
    // A name and its id are one device, and one of them is its account.
    const isIts = credential?.account === name;
    const isRight = await isSecret(given, isIts ? credential.hash : null);
    return isRight && credential ? accountOf(credential) : null;
  }

  /** @param {import('../store/credentials.js').Credential} credential @returns {Account} */
  function accountOf(credential) {
    const before = known.get(credential.deviceId);
    if (before?.stamp === credential.stamp) return before;
    const account = deviceAccount(credential);
    known.set(account.deviceId, account);
    return account;
  }

  return {
    /**
     * @param {string | undefined} name
     * @param {Buffer | undefined} given the password
     * @param {Visitor} [visitor]
     * @returns {Promise<Account | null>} null: not with this password, whether there is such an account or not
     * @throws {import('../../common/errors.js').MillraceError} `unavailable`
     */
    async signIn(name = '', given = Buffer.alloc(0), { address, gone } = NOBODY) {
      if (!auth) return everybody;
      if (isInstallation(name, given, address)) return installationAccount(name);
      return turnstile.pass(async () => (gone?.aborted ? null : device(name, given)));
    },

    /**
     * @param {Account[]} accounts that are connected
     * @returns {Promise<Set<Account>>} those whose credential was rotated, revoked, or is gone since they signed in
     * @throws {import('../../common/errors.js').MillraceError} `unavailable`
     */
    async outdated(accounts) {
      const devices = accounts.filter(({ isInstallation: all }) => !all);
      const stamps = await store.stamps([...new Set(devices.map(({ deviceId }) => deviceId))]);
      return new Set(devices.filter(({ deviceId, stamp }) => stamps.get(deviceId) !== stamp));
    },
  };
}

/** @typedef {ReturnType<typeof createAccounts>} Accounts */
