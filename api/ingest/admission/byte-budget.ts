import { MillraceError } from '../../../common/errors.ts';
import { Queue } from '../../../common/queue.ts';

/** Memory of a message in addition to its payload: decoded samples, promises, queue entries. */
const MESSAGE_OVERHEAD = 2048;

/**
 * Bounds the bytes of messages that are neither committed nor refused yet. Messages enter in order of arrival. A
 * message that is larger than the whole budget enters alone. Waiting messages also take memory, so message sources read
 * no further while one waits, and those of a closed connection are dropped.
 */
export class ByteBudget {
  #limit;
  #used = 0;
  #waiting: Queue<{ cost: number; enter: () => void }> = new Queue();
  #listeners: Array<() => void> = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Returns undefined if the message may begin at once. The signal aborts when the sender disconnects; it ends no begun
   * message.
   * @throws `unavailable`: the signal aborted before the message began
   */
  enter(payloadBytes: number, signal?: AbortSignal): Promise<void> | undefined {
    const cost = payloadBytes + MESSAGE_OVERHEAD;
    if (this.isFull || !this.#hasRoom(cost)) return this.#untilAdmitted(cost, signal);
    this.#used += cost;
    return undefined;
  }

  leave(payloadBytes: number) {
    this.#used -= payloadBytes + MESSAGE_OVERHEAD;
    this.#admit();
  }

  /** As `enter`. @throws `unavailable`: the signal aborted before the message began */
  async run<T>(payloadBytes: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const admitted = this.enter(payloadBytes, signal);
    if (admitted !== undefined) await admitted;
    try {
      return await work();
    } finally {
      this.leave(payloadBytes);
    }
  }

  /** Every new message waits too. */
  get isFull() {
    return this.#waiting.size > 0;
  }

  fits(payloadBytes: number): boolean {
    return !this.isFull && this.#hasRoom(payloadBytes + MESSAGE_OVERHEAD);
  }

  /** Called when a message has left and no message waits. */
  onFree(listener: () => void) {
    this.#listeners.push(listener);
  }

  /** Includes the overhead of each message. */
  get used() {
    return this.#used;
  }

  get waiting() {
    return this.#waiting.size;
  }

  #hasRoom(cost: number) {
    return this.#used === 0 || this.#used + cost <= this.#limit;
  }

  #admit() {
    for (let next = this.#waiting.first; next && this.#hasRoom(next.cost); next = this.#waiting.first) {
      this.#waiting.shift();
      this.#used += next.cost;
      next.enter();
    }
    if (!this.isFull) for (const listener of this.#listeners) listener();
  }

  #untilAdmitted(cost: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = this.#waiting.push({
        cost,
        enter() {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      });
      const abort = () => {
        leave();
        reject(new MillraceError('unavailable', 'The connection closed before the message began.'));
        this.#admit();
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

/** A payload is copied if it uses less than this share of the ArrayBuffer behind it. */
const MIN_SHARE = 1 / 2;

/** A payload may keep this many unused bytes alive without a copy. The overhead of each message includes them. */
const FREE_BYTES = MESSAGE_OVERHEAD;

/** A longer copy gets its own memory. */
const MAX_SHARED_BYTES = FREE_BYTES / 2;

/**
 * Copies payloads that wait for a commit or to be streamed out, if they use a small part of the ArrayBuffer that they
 * keep alive: the chunk that a socket read, up to 64 KiB, or the pool for small Buffers, of 8 KiB in Node.js 20 and 22,
 * and of 64 KiB in Node.js 24. A small message behind a large one took 31 times the memory that the byte budget counted
 * for it. Short copies share slabs of 2 KiB, because allocating memory for each copy takes three times as long as the
 * copy itself.
 */
export class PayloadMemory {
  #slab = Buffer.allocUnsafeSlow(FREE_BYTES);
  #used = 0;

  /** Returns a view whose ArrayBuffer has at most twice the length of the payload plus 2 KiB. */
  own(payload: Buffer | string): Buffer {
    const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
    const isLean = bytes.length >= MIN_SHARE * (bytes.buffer.byteLength - FREE_BYTES);
    if (isLean) return bytes;
    return bytes.length > MAX_SHARED_BYTES ? copyBytes(bytes) : this.#cut(bytes);
  }

  #cut(bytes: Buffer) {
    if (bytes.length > FREE_BYTES - this.#used) {
      this.#slab = Buffer.allocUnsafeSlow(FREE_BYTES);
      this.#used = 0;
    }
    const copy = this.#slab.subarray(this.#used, this.#used + bytes.length);
    copy.set(bytes);
    this.#used += bytes.length;
    return copy;
  }
}

/** `Buffer.from` would cut a small copy from the pool of Node.js: a retained status of 6 bytes could keep 64 KiB alive for long. */
export function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/** Up to 2 KiB beyond the payload are not counted, because the overhead of each message includes them. */
export const keptBytes = (payload: Buffer): number =>
  Math.max(payload.length, payload.buffer.byteLength - FREE_BYTES);
