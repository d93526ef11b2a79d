import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { messageOf } from '../../../common/errors.ts';
import { identifyDevice } from '../../../schema/ids.ts';
import type { Peer } from '../../access/accounts.ts';
import { deviceAccount } from '../../access/index.ts';
import type { Account } from '../../access/topic-permissions.ts';
import { isSecret } from './secret.ts';
import type { Credential, CredentialStore } from './store.ts';

/** Further logins wait, so that a flood of logins leaves the database and the CPU to other work. */
const MAX_CONCURRENT = 64;

/** A gateway's account may have a thousand devices, and computing their ids takes milliseconds. */
const MAX_CACHED_DEVICES = 50_000;

/** An account as its credential was at `writtenAt`, epoch µs. */
type SignedIn = { account: Account; writtenAt: number };

/**
 * Signs devices in with their credentials. It compares all connected accounts with the database at an interval, because any process may
 * rotate or revoke a credential.
 */
export class DeviceAccounts {
  #store;
  #everyMs;
  #logger;
  #limitLogins = pLimit(MAX_CONCURRENT);
  #cache: LRUCache<string, SignedIn> = new LRUCache({
    maxSize: MAX_CACHED_DEVICES,
    sizeCalculation: ({ account }) => account.ids.size,
  });
  #connected: Map<Peer, SignedIn> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({
    store,
    everyMs,
    logger,
  }: {
    store: Pick<CredentialStore, 'find' | 'writeTimes'>;
    everyMs: number;
    logger: Pick<Logger, 'info' | 'debug'>;
  }) {
    this.#store = store;
    this.#everyMs = everyMs;
    this.#logger = logger;
  }

  /** Returns null for an unknown account or a wrong password. @throws `unavailable` */
  signIn = (name: string, password: Buffer, peer: Peer): Promise<Account | null> =>
    this.#limitLogins(async () => {
      const signedIn = peer.gone.aborted ? null : await this.#authenticate(name, password);
      if (signedIn && !peer.gone.aborted) {
        this.#connected.set(peer, signedIn);
        peer.gone.addEventListener('abort', () => this.#connected.delete(peer), { once: true });
      }
      return signedIn?.account ?? null;
    });

  start() {
    // Two checks never overlap: the next is scheduled after the end of the current one.
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#checkAll(), this.#everyMs).unref();
  }

  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Rejects the clients whose credential was rotated, revoked or deleted since their login. `deviceId`: only those of this account */
  async check(deviceId?: string): Promise<void> {
    const open = [...this.#connected].filter(
      ([, { account }]) => deviceId === undefined || account.deviceId === deviceId,
    );
    try {
      const devices = new Set(open.map(([, { account }]) => account.deviceId));
      const writeTimes = await this.#store.writeTimes([...devices]);
      for (const [peer, { account, writtenAt }] of open) {
        if (writeTimes.get(account.deviceId) === writtenAt) continue;
        this.#logger.info({ account: account.name }, 'its credential is no longer valid; connection closed');
        peer.reject();
      }
    } catch (error) {
      // The database is unavailable. The next periodic check covers these accounts too.
      this.#logger.debug({ reason: messageOf(error) }, 'credentials not checked');
    }
  }

  async #checkAll() {
    await this.check();
    this.start();
  }

  async #authenticate(name: string, password: Buffer): Promise<SignedIn | null> {
    const identity = identifyDevice(name);
    const credential = identity && (await this.#store.find(identity.bytes));
    // A device's name and its id denote the same device, but only one of them is the user name of its account.
    const isAccount = credential?.account === name;
    const isCorrect = await isSecret(password, isAccount ? credential.hash : null);
    return isCorrect && credential ? this.#signedIn(credential) : null;
  }

  #signedIn(credential: Credential): SignedIn {
    const { deviceId, writtenAt } = credential;
    const cached = this.#cache.get(deviceId);
    if (cached?.writtenAt === writtenAt) return cached;
    const signedIn = { account: deviceAccount(credential), writtenAt };
    this.#cache.set(deviceId, signedIn);
    return signedIn;
  }
}
