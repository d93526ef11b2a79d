import { ByteQueue } from './byte-queue.js';
import { chunks } from './kafka/sender.js';

/** @import { Waiting } from './byte-queue.js' */
/** @import { KafkaSender, OutRecord } from './kafka/sender.js' */

/** Bytes of samples that are encoded at once. As JSON they take some 6 ms, in which nothing else runs. */
export const ENCODED_AT_ONCE = 128 * 1024;

/** An empty queue is looked at again after this time, in ms. */
const IDLE_MS = 5000;

/**
 * What waits for one topic, in order. A topic that Kafka refuses fills its own queue and holds up no other.
 *
 * @template {Waiting} T
 */
export class TopicQueue {
  #queue;
  #deps;
  /** What is being sent, until Kafka has it. @type {T[]} */
  #sending = [];
  #stopping = new AbortController();
  #running = Promise.resolve();

  /**
   * @param {object} deps
   * @param {number} deps.limit bytes
   * @param {KafkaSender} deps.sender its own
   * @param {(signal: AbortSignal) => Promise<boolean>} deps.prepare settles when records can be made; false: at the end of the signal
   * @param {(item: T) => OutRecord[]} deps.toRecords
   * @param {(item: T) => void} deps.onSent
   */
  constructor(deps) {
    this.#deps = deps;
    this.#queue = /** @type {ByteQueue<T>} */ (new ByteQueue(deps.limit));
  }

  /** Reserves room. @param {number} bytes @param {number} [items] @returns {boolean} false: there is none */
  reserve(bytes, items) {
    return this.#queue.reserve(bytes, items);
  }

  /** Adds an item that has reserved its room. @param {T} item */
  push(item) {
    this.#queue.push(item);
  }

  start() {
    this.#running = this.#run();
  }

  /** Ends after the request under way. @param {number} withinMs time to send what waits */
  async stop(withinMs) {
    const deadline = performance.now() + withinMs;
    while (this.#queue.bytes > 0 && !this.isFailing && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.#stopping.abort();
    await this.#deps.sender.stop();
  }

  /** Settles when nothing runs any more. */
  get ended() {
    return this.#running;
  }

  get bytes() {
    return this.#queue.bytes;
  }

  /** Whether the last request failed. */
  get isFailing() {
    return this.#deps.sender.failingForMs > 0;
  }

  /** When the item was committed that Kafka lacks for longest. @returns {number | null} epoch ms; null: it has all */
  get oldest() {
    return this.#sending[0]?.committedAt ?? this.#queue.oldest;
  }

  async #run() {
    const { signal } = this.#stopping;
    const { prepare, sender, toRecords, onSent } = this.#deps;
    while (!signal.aborted) {
      await this.#queue.untilFilled(IDLE_MS, signal);
      if (this.#queue.length === 0) continue;
      if (!(await prepare(signal))) return;
      this.#sending = this.#queue.take(ENCODED_AT_ONCE);
      for (const some of chunks(this.#sending.flatMap(toRecords))) if (!(await sender.send(some))) return;
      for (const item of this.#sending) onSent(item);
      this.#queue.release(this.#sending);
      this.#sending = [];
    }
  }
}
