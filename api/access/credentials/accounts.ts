import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { sameSecret } from '../../../common/timing-safe-equal.js';
import { identifyDevice } from '../../../schema/ids.js';
import { deviceAccount, installationAccount } from './permissions.js';
import { isSecret } from './secret.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Credential, CredentialStore } from '../../store/credentials.js' */
/** @import { Account } from './permissions.js' */

/** Limit of concurrent logins. Further logins wait, so that a flood of logins leaves the database and the CPU to other work. */
const MAX_CONCURRENT = 64;

/**
 * Limit of devices in the cache of accounts. A gateway's account may have a thousand devices, and computing their ids takes
 * milliseconds.
 */
const MAX_CACHED_DEVICES = 50_000;

/**
 * A client that logs in.
 *
 * @typedef {object} Peer
 * @property {string} address
 * @property {AbortSignal} [gone] aborted when the client has disconnected
 */

/** @type {Peer} */
const UNKNOWN = { address: '' };

/**
 * Authenticates the clients of the embedded broker. Without MQTT_AUTH every client may connect. With MQTT_AUTH, only devices
 * with credentials and the account of the installation may connect.
 */
export class Accounts {
  #store;
  #failedLogins;
  #auth;
  #username;
  #password;
  #limitLogins = pLimit(MAX_CONCURRENT);
  #everybody = installationAccount('');
  /** @type {LRUCache<string, Account>} accounts by device id */
  #cache = new LRUCache({ maxSize: MAX_CACHED_DEVICES, sizeCalculation: ({ ids }) => ids.size });

  /**
   * @param {object} deps
   * @param {Pick<CredentialStore, 'find' | 'writeTimes'>} deps.store
   * @param {Pick<Config['mqtt'], 'auth' | 'username' | 'password'>} deps.mqtt
   * @param {FailedLogins} [deps.failedLogins] of the account of the installation
   */
  constructor({ store, mqtt, failedLogins = new FailedLogins() }) {
    this.#store = store;
    this.#failedLogins = failedLogins;
    const { auth, username, password } = mqtt;
    this.#auth = auth;
    this.#username = username;
    this.#password = password;
  }

  /**
   * Authenticates a client.
   *
   * @param {string | undefined} name
   * @param {Buffer | undefined} given the password
   * @param {Peer} [peer]
   * @returns {Promise<Account | null>} null: unknown account, or wrong password
   * @throws {MillraceError} `unavailable`
   */
  async signIn(name = '', given = Buffer.alloc(0), { address, gone } = UNKNOWN) {
    if (!this.#auth) return this.#everybody;
    if (this.#isInstallation(name, given, address)) return installationAccount(name);
    return this.#limitLogins(async () => (gone?.aborted ? null : this.#authenticateDevice(name, given)));
  }

  /**
   * Finds connected accounts that must log in again.
   *
   * @param {Account[]} accounts connected accounts
   * @returns {Promise<Set<Account>>} accounts whose credential has been rotated, revoked or deleted since their login
   * @throws {MillraceError} `unavailable`
   */
  async outdated(accounts) {
    const devices = accounts.filter((account) => !account.isInstallation);
    const writeTimes = await this.#store.writeTimes([...new Set(devices.map(({ deviceId }) => deviceId))]);
    return new Set(devices.filter(({ deviceId, writtenAt }) => writeTimes.get(deviceId) !== writtenAt));
  }

  /** @param {string} name @param {Buffer} given @param {string} address */
  #isInstallation(name, given, address) {
    if (!this.#username || !this.#password) return false;
    // Compare both name and password in every case, so that the time reveals nothing about the name.
    const [sameName, samePassword] = [sameSecret(name, this.#username), sameSecret(given, this.#password)];
    if (!sameName || this.#failedLogins.isBlocked(address)) return false;
    if (!samePassword) this.#failedLogins.record(address);
    return samePassword;
  }

  /** @param {string} name @param {Buffer} given @returns {Promise<Account | null>} */
  async #authenticateDevice(name, given) {
    const identity = identifyDevice(name);
    const credential = identity && (await this.#store.find(identity.bytes));
    // A device's name and its id denote the same device, but only one of them is the user name of its account.
    const isAccount = credential?.account === name;
    const isCorrect = await isSecret(given, isAccount ? credential.hash : null);
    return isCorrect && credential ? this.#accountOf(credential) : null;
  }

  /** @param {Credential} credential @returns {Account} */
  #accountOf(credential) {
    const cached = this.#cache.get(credential.deviceId);
    if (cached?.writtenAt === credential.writtenAt) return cached;
    const account = deviceAccount(credential);
    this.#cache.set(account.deviceId, account);
    return account;
  }
}

/** Limit of failed logins of one address within `WINDOW_MS`. Then the address is blocked until the window ends. */
const MAX_FAILED = 10;
/** Time in ms for which failed logins of an address count, beginning with the first failed login. */
const WINDOW_MS = 60_000;

/** Limit of addresses whose failed logins are counted. Above it, the least recently used address is dropped. */
const MAX_ADDRESSES = 10_000;

/**
 * Counts failed logins by address. A blocked address cannot log in with the correct password either, so further attempts reveal nothing.
 * Programs of the installation at the same address have to wait for the end of the window.
 */
export class FailedLogins {
  /**
   * Failed logins by address. A window begins with the first failed login of an address.
   *
   * @type {LRUCache<string, { count: number }>}
   */
  #windows;

  /** @param {{ clock?: () => number }} [options] `clock`: ms of a monotonic clock */
  constructor({ clock = () => performance.now() } = {}) {
    this.#windows = new LRUCache({
      max: MAX_ADDRESSES,
      ttl: WINDOW_MS,
      ttlResolution: 0,
      perf: { now: clock },
    });
  }

  /** @param {string} address */
  isBlocked(address) {
    return (this.#windows.get(address)?.count ?? 0) >= MAX_FAILED;
  }

  /** @param {string} address */
  record(address) {
    const window = this.#windows.get(address);
    if (window) window.count++;
    else this.#windows.set(address, { count: 1 });
  }
}
