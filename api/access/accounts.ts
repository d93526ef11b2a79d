import { LRUCache } from 'lru-cache';
import type { Config } from '../../common/settings/config.ts';
import { sameSecret } from '../../common/timing-safe-equal.ts';
import { type Account, installationAccount } from './topic-permissions.ts';

/** A client that signs in at the embedded broker. */
export interface Peer {
  address: string;
  /** aborted when the client has disconnected */
  gone: AbortSignal;
  /** disconnects the client, because its account is no longer valid */
  reject: () => void;
}

/** Returns null for an unknown account or a wrong password. @throws `unavailable` */
export type SignInDevice = (name: string, password: Buffer, peer: Peer) => Promise<Account | null>;

/** Without MQTT_AUTH every client may connect. With it, the installation may, and devices whose accounts a feature knows. */
export class Accounts {
  #failedLogins;
  #auth;
  #username;
  #password;
  #everybody = installationAccount('');
  #signInDevice: SignInDevice = async () => null;

  constructor(
    { auth, username, password }: Pick<Config['mqtt'], 'auth' | 'username' | 'password'>,
    failedLogins = new FailedLogins(),
  ) {
    this.#failedLogins = failedLogins;
    this.#auth = auth;
    this.#username = username;
    this.#password = password;
  }

  signInDevicesBy(signIn: SignInDevice) {
    this.#signInDevice = signIn;
  }

  /** Returns null for an unknown account or a wrong password. @throws `unavailable` */
  async signIn(
    name: string | undefined = '',
    given: Buffer | undefined = Buffer.alloc(0),
    peer: Peer,
  ): Promise<Account | null> {
    if (!this.#auth) return this.#everybody;
    if (this.#isInstallation(name, given, peer.address)) return installationAccount(name);
    return this.#signInDevice(name, given, peer);
  }

  #isInstallation(name: string, given: Buffer, address: string) {
    if (!this.#username || !this.#password) return false;
    // Compare both name and password in every case, so that the time reveals nothing about the name.
    const [sameName, samePassword] = [sameSecret(name, this.#username), sameSecret(given, this.#password)];
    if (!sameName || this.#failedLogins.isBlocked(address)) return false;
    if (!samePassword) this.#failedLogins.record(address);
    return samePassword;
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
