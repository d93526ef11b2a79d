import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Config } from '../../../common/settings/config.ts';
import { sameSecret } from '../../../common/timing-safe-equal.ts';
import { identifyDevice } from '../../../schema/ids.ts';
import type { Credential, CredentialStore } from '../../store/credentials.ts';
import { isSecret } from './secret.ts';
import { type Account, deviceAccount, installationAccount } from './topic-permissions.ts';

/** Further logins wait, so that a flood of logins leaves the database and the CPU to other work. */
const MAX_CONCURRENT = 64;

/** A gateway's account may have a thousand devices, and computing their ids takes milliseconds. */
const MAX_CACHED_DEVICES = 50_000;

interface Peer {
  address: string;
  /** aborted when the client has disconnected */
  gone?: AbortSignal;
}

const UNKNOWN: Peer = { address: '' };

/** Without MQTT_AUTH every client may connect. */
export class Accounts {
  #store;
  #failedLogins;
  #auth;
  #username;
  #password;
  #limitLogins = pLimit(MAX_CONCURRENT);
  #everybody = installationAccount('');
  #cache: LRUCache<string, Account> = new LRUCache({
    maxSize: MAX_CACHED_DEVICES,
    sizeCalculation: ({ ids }) => ids.size,
  });

  constructor({
    store,
    mqtt,
    failedLogins = new FailedLogins(),
  }: {
    store: Pick<CredentialStore, 'find' | 'writeTimes'>;
    mqtt: Pick<Config['mqtt'], 'auth' | 'username' | 'password'>;
    failedLogins?: FailedLogins;
  }) {
    this.#store = store;
    this.#failedLogins = failedLogins;
    const { auth, username, password } = mqtt;
    this.#auth = auth;
    this.#username = username;
    this.#password = password;
  }

  /** Returns null for an unknown account or a wrong password. @throws `unavailable` */
  async signIn(
    name: string | undefined = '',
    given: Buffer | undefined = Buffer.alloc(0),
    { address, gone }: Peer = UNKNOWN,
  ): Promise<Account | null> {
    if (!this.#auth) return this.#everybody;
    if (this.#isInstallation(name, given, address)) return installationAccount(name);
    return this.#limitLogins(async () => (gone?.aborted ? null : this.#authenticateDevice(name, given)));
  }

  /** Finds accounts whose credential was rotated, revoked or deleted since their login. @throws `unavailable` */
  async outdated(accounts: Account[]): Promise<Set<Account>> {
    const devices = accounts.filter((account) => !account.isInstallation);
    const writeTimes = await this.#store.writeTimes([...new Set(devices.map(({ deviceId }) => deviceId))]);
    return new Set(devices.filter(({ deviceId, writtenAt }) => writeTimes.get(deviceId) !== writtenAt));
  }

  #isInstallation(name: string, given: Buffer, address: string) {
    if (!this.#username || !this.#password) return false;
    // Compare both name and password in every case, so that the time reveals nothing about the name.
    const [sameName, samePassword] = [sameSecret(name, this.#username), sameSecret(given, this.#password)];
    if (!sameName || this.#failedLogins.isBlocked(address)) return false;
    if (!samePassword) this.#failedLogins.record(address);
    return samePassword;
  }

  async #authenticateDevice(name: string, given: Buffer): Promise<Account | null> {
    const identity = identifyDevice(name);
    const credential = identity && (await this.#store.find(identity.bytes));
    // A device's name and its id denote the same device, but only one of them is the user name of its account.
    const isAccount = credential?.account === name;
    const isCorrect = await isSecret(given, isAccount ? credential.hash : null);
    return isCorrect && credential ? this.#accountOf(credential) : null;
  }

  #accountOf(credential: Credential): Account {
    const cached = this.#cache.get(credential.deviceId);
    if (cached?.writtenAt === credential.writtenAt) return cached;
    const account = deviceAccount(credential);
    this.#cache.set(account.deviceId, account);
    return account;
  }
}

/** The address is blocked until its window ends. */
const MAX_FAILED = 10;
/** The window begins with the first failed login. */
const WINDOW_MS = 60_000;

const MAX_ADDRESSES = 10_000;

/** A blocked address cannot log in with the correct password either, so further attempts reveal nothing. */
export class FailedLogins {
  #windows: LRUCache<string, { count: number }>;

  constructor({ clock = () => performance.now() }: { clock?: () => number } = {}) {
    this.#windows = new LRUCache({
      max: MAX_ADDRESSES,
      ttl: WINDOW_MS,
      ttlResolution: 0,
      perf: { now: clock },
    });
  }

  isBlocked(address: string) {
    return (this.#windows.get(address)?.count ?? 0) >= MAX_FAILED;
  }

  record(address: string) {
    const window = this.#windows.get(address);
    if (window) window.count++;
    else this.#windows.set(address, { count: 1 });
  }
}
