import { MillraceError } from '../../../common/errors.js';
import { Queue } from './queue.js';

/** Memory of a message in addition to its payload, in bytes: decoded samples, promises, queue entries. */
const MESSAGE_OVERHEAD = 2048;

/**
 * Bounds the bytes of unsettled messages. Messages enter in order of arrival. A message that is larger than the whole budget enters
 * alone. Waiting messages also take memory. So message sources read no further while a message waits, and the waiting messages of a
 * closed connection leave.
 */
export class ByteBudget {
  #limit;
  #used = 0;
  /** @type {Queue<{ cost: number, enter: () => void }>} */
  #waiting = new Queue();
  /** @type {Array<() => void>} */
  #listeners = [];

  /** @param {number} limit bytes */
  constructor(limit) {
    this.#limit = limit;
  }

  /**
   * @param {number} payloadBytes
   * @param {AbortSignal} [signal] aborts when the sender disconnects; a message that has begun is finished
   * @returns {Promise<void> | undefined} settles when the message may begin; undefined: at once
   * @throws {MillraceError} `unavailable`: aborted before it began
   */
  enter(payloadBytes, signal) {
    const cost = payloadBytes + MESSAGE_OVERHEAD;
    if (this.isFull || !this.#hasRoom(cost)) return this.#untilAdmitted(cost, signal);
    this.#used += cost;
    return undefined;
  }

  /** @param {number} payloadBytes of a message that entered */
  leave(payloadBytes) {
    this.#used -= payloadBytes + MESSAGE_OVERHEAD;
    this.#admit();
  }

  /**
   * @template T
   * @param {number} payloadBytes
   * @param {() => Promise<T>} work begins at once if there is room
   * @param {AbortSignal} [signal] see `enter`
   * @returns {Promise<T>}
   * @throws {MillraceError} `unavailable`: aborted before it began
   */
  async run(payloadBytes, work, signal) {
    const admitted = this.enter(payloadBytes, signal);
    if (admitted !== undefined) await admitted;
    try {
      return await work();
    } finally {
      this.leave(payloadBytes);
    }
  }

  /** Whether messages wait. A further message would wait too. */
  get isFull() {
    return this.#waiting.size > 0;
  }

  /** @param {number} payloadBytes @returns {boolean} whether a message of this size would begin at once */
  fits(payloadBytes) {
    return !this.isFull && this.#hasRoom(payloadBytes + MESSAGE_OVERHEAD);
  }

  /** @param {() => void} listener called when a message has left and no message waits */
  onFree(listener) {
    this.#listeners.push(listener);
  }

  /** Bytes of unsettled messages, with their overhead. */
  get used() {
    return this.#used;
  }

  get waiting() {
    return this.#waiting.size;
  }

  /** @param {number} cost */
  #hasRoom(cost) {
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

  /** @param {number} cost @param {AbortSignal} [signal] @returns {Promise<void>} */
  #untilAdmitted(cost, signal) {
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
