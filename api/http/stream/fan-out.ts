import { randomBytes } from 'node:crypto';
import { createDelta, createSnapshot, type Frames, readEventId } from './frames.ts';
import type { Reader } from './index.ts';
import type { LatestCache } from './latest-cache.ts';

/** Sends the changes of a channel's cache to all its readers. */
export class FanOut {
  #id = randomBytes(8).toString('hex');
  #cache;
  #coalesceMs;
  #clock;
  #readers: Set<Reader> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** newest snapshot, shared by readers that join at the same time */
  #snapshot: Frames | undefined;
  #open = true;

  constructor({ cache, coalesceMs, clock }: { cache: LatestCache; coalesceMs: number; clock: () => number }) {
    this.#cache = cache;
    this.#coalesceMs = coalesceMs;
    this.#clock = clock;
  }

  /** The first change of a quiet channel is sent at once. Later changes wait until `coalesceMs` is over. */
  sendSoon() {
    if (!this.#open) return;
    this.#timer ??= setTimeout(
      this.#sendAll,
      Math.max(0, this.#sentAt + this.#coalesceMs - performance.now()),
    );
  }

  join(reader: Reader, lastId: string) {
    const last = readEventId(lastId);
    this.#readers.add(reader);
    if (last?.channel === this.#id && last.position <= this.#cache.position) {
      reader.position = last.position;
      if (last.position < this.#cache.position) this.sendSoon();
    } else void this.#send(reader, this.#currentSnapshot());
  }

  leave(reader: Reader) {
    this.#readers.delete(reader);
  }

  end() {
    this.#open = false;
    clearTimeout(this.#timer);
  }

  #sendAll = () => {
    this.#timer = undefined;
    this.#sentAt = performance.now();
    const { position } = this.#cache;
    /** by the position of readers; nearly all readers have the same position */
    const deltas: Map<number, Frames> = new Map();
    for (const reader of this.#readers) {
      if (reader.busy || reader.position === position) continue;
      const delta =
        deltas.get(reader.position) ??
        createDelta(this.#cache.since(reader.position), { channel: this.#id, position }, this.#clock);
      deltas.set(reader.position, delta);
      void this.#send(reader, delta);
    }
    this.#cache.markSent();
  };

  async #send(reader: Reader, frames: Frames) {
    await reader.send(frames);
    if (reader.isOpen() && reader.position < this.#cache.position) this.sendSoon();
  }

  #currentSnapshot() {
    const { position } = this.#cache;
    if (this.#snapshot?.position !== position) {
      this.#snapshot = createSnapshot(this.#cache.all(), { channel: this.#id, position });
    }
    return this.#snapshot;
  }
}
