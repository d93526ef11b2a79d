import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { sameSecret } from '../../../common/same-secret.js';
import { identifyDevice } from '../../../schema/ids.js';
import { deviceAccount, installationAccount } from './permissions.js';
import { isSecret } from './secret.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Credential, CredentialStore } from '../../store/credentials.js' */
/** @import { Account } from './permissions.js' */

/** Sign-ins that are looked up at once: however many knock, the database and the processor have room for what goes on inside. */
const MOST_AT_ONCE = 64;

/** Devices whose rights are remembered, all accounts together: a gateway's thousand names take milliseconds to be made ids of. */
const MOST_REMEMBERED = 50_000;

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
 * @param {Pick<CredentialStore, 'find' | 'writeTimes'>} parts.store
 * @param {Pick<Config['mqtt'], 'auth' | 'username' | 'password'>} parts.mqtt
 * @param {FailedLogins} [parts.failedLogins] at the installation's password
 */
export function createAccounts({ store, mqtt, failedLogins = createFailedLogins() }) {
  const { auth, username, password } = mqtt;
  const limitLogins = pLimit(MOST_AT_ONCE);
  const everybody = installationAccount('');

  /** @type {LRUCache<string, Account>} by device */
  const known = new LRUCache({ maxSize: MOST_REMEMBERED, sizeCalculation: ({ ids }) => ids.size });

  /** @param {string} name @param {Buffer} given @param {string} address */
  const isInstallation = (name, given, address) => {
    if (!username || !password) return false;
    // Both are compared whatever the first says.
    const [sameName, samePassword] = [sameSecret(name, username), sameSecret(given, password)];
    if (!sameName || failedLogins.areSpent(address)) return false;
    if (!samePassword) failedLogins.count(address);
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

  /** @param {Credential} credential @returns {Account} */
  function accountOf(credential) {
    const before = known.get(credential.deviceId);
    if (before?.writtenAt === credential.writtenAt) return before;
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
     * @throws {MillraceError} `unavailable`
     */
    async signIn(name = '', given = Buffer.alloc(0), { address, gone } = NOBODY) {
      if (!auth) return everybody;
      if (isInstallation(name, given, address)) return installationAccount(name);
      return limitLogins(async () => (gone?.aborted ? null : device(name, given)));
    },

    /**
     * @param {Account[]} accounts that are connected
     * @returns {Promise<Set<Account>>} those whose credential was rotated, revoked, or is gone since they signed in
     * @throws {MillraceError} `unavailable`
     */
    async outdated(accounts) {
      const devices = accounts.filter(({ isInstallation: all }) => !all);
      const writeTimes = await store.writeTimes([...new Set(devices.map(({ deviceId }) => deviceId))]);
      return new Set(devices.filter(({ deviceId, writtenAt }) => writeTimes.get(deviceId) !== writtenAt));
    },
  };
}

/** @typedef {ReturnType<typeof createAccounts>} Accounts */

/** Wrong passwords of one address within the time, in ms, after which the right one is not told from them either. */
const MOST = 10;
const WITHIN_MS = 60_000;

/** Addresses that are remembered. */
const MOST_ADDRESSES = 10_000;

/**
 * Counts wrong passwords for each address. Whoever failedLogins finds out nothing with those beyond the tenth in a minute; for our own
 * programs at the same address that means to wait for as long.
 *
 * @param {{ clock?: () => number }} [options] `clock`: ms of a clock that never goes back
 */
export function createFailedLogins({ clock = () => performance.now() } = {}) {
  /** @type {LRUCache<string, { wrong: number }>} from the first wrong one on */
  const lately = new LRUCache({
    max: MOST_ADDRESSES,
    ttl: WITHIN_MS,
    ttlResolution: 0,
    perf: { now: clock },
  });

  return {
    /** @param {string} address @returns {boolean} whether it has guessed too often to be answered */
    areSpent: (address) => (lately.get(address)?.wrong ?? 0) >= MOST,

    /** @param {string} address from which a wrong one came */
    count(address) {
      const one = lately.get(address);
      if (one) one.wrong++;
      else lately.set(address, { wrong: 1 });
    },
  };
}

/** @typedef {ReturnType<typeof createFailedLogins>} FailedLogins */
