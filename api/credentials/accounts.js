import { sameSecret } from '../../common/same-secret.js';
import { identifyDevice } from '../../schema/ids.js';
import { deviceAccount, installationAccount } from './rights.js';
import { isSecret } from './secret.js';
import { createTurnstile } from './turnstile.js';

/** Sign-ins that are looked up at once: however many knock, the database and the processor have room for what goes on inside. */
const MOST_AT_ONCE = 64;

/** @typedef {import('./rights.js').Account} Account */

/**
 * Who may connect to the embedded broker, and as whom: everybody, or, where MQTT_AUTH is on, devices with credentials and
 * the installation's own account.
 *
 * @param {object} parts
 * @param {Pick<import('../store/credentials.js').CredentialStore, 'find' | 'stamps'>} parts.store
 * @param {Pick<import('../../common/settings.js').Config['mqtt'], 'auth' | 'username' | 'password'>} parts.mqtt
 */
export function createAccounts({ store, mqtt }) {
  const { auth, username, password } = mqtt;
  const turnstile = createTurnstile(MOST_AT_ONCE);
  const everybody = installationAccount('');

  /** @param {string} name @param {Buffer} given */
  const isInstallation = (name, given) => {
    if (!username || !password) return false;
    // Both are compared whatever the first says.
    const [sameName, samePassword] = [sameSecret(name, username), sameSecret(given, password)];
    return sameName && samePassword;
  };

  /** @param {string} name @param {Buffer} given @returns {Promise<Account | null>} */
  async function device(name, given) {
    const identity = identifyDevice(name);
    const credential = identity && (await store.find(identity.bytes));
    // A name and its id are one device, and one of them is its account.
    const isIts = credential?.account === name;
    const isRight = await isSecret(given, isIts ? credential.hash : null);
    return isRight && credential ? deviceAccount(credential) : null;
  }

  return {
    /**
     * @param {string | undefined} name
     * @param {Buffer | undefined} given the password
     * @param {AbortSignal} [signal] whoever asked is gone
     * @returns {Promise<Account | null>} null: not with this password, whether there is such an account or not
     * @throws {import('../../common/errors.js').MillraceError} `unavailable`
     */
    async signIn(name = '', given = Buffer.alloc(0), signal = undefined) {
      if (!auth) return everybody;
      if (isInstallation(name, given)) return installationAccount(name);
      return turnstile.pass(async () => (signal?.aborted ? null : device(name, given)));
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
