import type { Correction, CorrectionStore, ReadCorrection } from '../store/corrections.ts';
import type { Retry } from '../store/sending/retry.ts';
import type { Device } from './registry/cache.ts';
import type { RevisionWriter } from './revisions.ts';

/**
 * Is called when all readers see the correction, and before it is acknowledged. It is repeated while the database is unavailable, and by
 * another process if this one ends. So it may get a correction twice.
 */
export type OnCorrected = (correction: Correction) => Promise<void> | void;

type Entry = Pick<Correction, 'kind' | 'sensors' | 'from' | 'to' | 'samples'> &
  CorrectionRequest & { undoes?: Buffer };

export interface CorrectionRequest {
  /** kind of the credential, fingerprint and address of the caller */
  by: string;
  reason: string | null;
  /** epoch ms; default: now. Later corrections stay. */
  acceptedAt?: number;
}

/** In ms. The clocks of two processes differ by two minutes at most, and the time of an id is rounded. */
const MAX_AHEAD_MS = 4 * 60_000;

/** Two processes may have taken one revision. The entries of both were written before either reads. */
const SAME_MS = 1000;

/** In ms. If its process has not prolonged a correction for this time, the process has ended. */
const RUNNING_MS = 10 * 60_000;

/** Lists corrections with their revisions, and reports them when they are finished. */
export class CorrectionLog {
  #deps;
  #listeners: OnCorrected[] = [];

  constructor(deps: {
    store: CorrectionStore;
    revisions: Pick<RevisionWriter, 'now' | 'next'>;
    retry: Pick<Retry, 'run'>;
  }) {
    this.#deps = deps;
  }

  onCorrected(listener: OnCorrected) {
    this.#listeners.push(listener);
  }

  /** Epoch ms by the trusted clock. */
  now(): Promise<number> {
    return this.#deps.revisions.now();
  }

  /**
   * Lists a correction as running before its first row, so the list also has one whose process ends early. Its revision is greater than those
   * of all earlier corrections of the device, and no other correction of the device has it.
   * @param options `after`: a revision in epoch µs @throws `unavailable` while the process ends
   */
  async list(
    device: Device,
    { undoes, acceptedAt, ...entry }: Entry,
    { after = 0 }: { after?: number } = {},
  ): Promise<Correction> {
    const { store, retry } = this.#deps;
    let revision = acceptedAt === undefined ? await this.#revisionAfter(device, after) : acceptedAt * 1000;
    // A replay has an old revision, and readers of the list have passed its time.
    const least = acceptedAt === undefined ? 0 : Math.floor(await this.now());
    const listedAt = Math.max(least, Math.floor(revision / 1000));
    const id = store.newId(listedAt * 1000);
    const runningUntil = (await this.now()) + RUNNING_MS;
    for (;;) {
      const listed = { ...entry, id, revision, device: device.id, undoes: undoes ?? null, runningUntil };
      await retry.run(() => store.add(listed));
      const near = [...new Set([Math.floor(revision / 1000), listedAt])].map((ms) =>
        retry.run(() => store.revisions(device.bytes, { from: ms - SAME_MS, to: ms + SAME_MS })),
      );
      const others = (await Promise.all(near)).flat().filter((other) => !other.id.equals(id));
      const taken = new Set(others.map((other) => other.revision));
      if (!taken.has(revision)) return listed;
      // The next free one, because a correction with `acceptedAt` must stay below later ones.
      while (taken.has(revision)) revision += 1 + Math.floor(Math.random() * 100);
    }
  }

  async #revisionAfter(device: Device, after: number): Promise<number> {
    const { store, retry, revisions } = this.#deps;
    const now = await this.now();
    const ahead = await retry.run(() =>
      store.revisions(device.bytes, { from: now - SAME_MS, to: now + MAX_AHEAD_MS }),
    );
    return revisions.next(Math.max(after, ...ahead.map(({ revision }) => revision)));
  }

  /** To be called often while a listed correction runs. */
  async prolong(correction: Correction) {
    const until = (await this.now()) + RUNNING_MS;
    if (until - correction.runningUntil < RUNNING_MS / 2) return;
    correction.runningUntil = until;
    await this.#deps.retry.run(() => this.#deps.store.add(correction));
  }

  /** `correction`: with the sensors that it has changed, and their samples */
  async finish(correction: Correction): Promise<Correction> {
    const { store, retry } = this.#deps;
    // Listeners and their clients read the log, and the entry of a removal has changed.
    if (correction.kind === 'remove') await retry.run(() => store.add(correction));
    await this.#report(correction);
    const finished = { ...correction, runningUntil: 0 };
    await retry.run(() => store.add(finished));
    return finished;
  }

  /** Reports a correction whose process ended early. */
  async complete(correction: ReadCorrection) {
    await this.#report(correction);
    await this.#deps.retry.run(() => this.#deps.store.finish(correction));
  }

  async #report(correction: Correction) {
    for (const listener of this.#listeners) await this.#deps.retry.run(async () => listener(correction));
  }
}
