import { ByteQueue } from './byte-queue.js';
import { chunks } from './kafka/sender.js';

/** @import { Waiting } from './byte-queue.js' */
/** @import { KafkaSender, OutRecord } from './kafka/sender.js' */

/**
 * Limit in bytes of packed samples that are encoded in one go. The encoding of this many bytes as JSON takes some 6 ms, in which
 * no other code runs.
 */
export const ENCODED_AT_ONCE = 128 * 1024;

/** Time in ms after which an empty queue is checked again. */
const IDLE_MS = 5000;

/**
 * A queue of the items of one topic, in order, with the loop that sends them. A topic that Kafka refuses fills its own queue and
 * delays no other topic.
 *
 * @template {Waiting} T
 */
export class TopicQueue {
  #queue;
  #deps;
  /** Items that are being sent, until Kafka has them. @type {T[]} */
  #sending = [];
  #stopping = new AbortController();
  #running = Promise.resolve();

  /**
   * @param {object} deps
   * @param {number} deps.limit bytes
   * @param {KafkaSender} deps.sender only for this topic
   * @param {(signal: AbortSignal) => Promise<boolean>} deps.prepare settles when records can be encoded; false: the signal
   *   aborted first
   * @param {(item: T) => OutRecord[]} deps.toRecords
   * @param {(item: T) => void} deps.onSent
   */
  constructor(deps) {
    this.#deps = deps;
    this.#queue = /** @type {ByteQueue<T>} */ (new ByteQueue(deps.limit));
  }

  /**
   * Reserves room.
   *
   * @param {number} bytes
   * @param {number} [items]
   * @returns {boolean} false: there is no room
   */
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

  /** Stops after the request that is being sent. @param {number} withinMs time limit for sending the waiting items */
  async stop(withinMs) {
    const deadline = performance.now() + withinMs;
    while (this.#queue.bytes > 0 && !this.isFailing && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.#stopping.abort();
    await this.#deps.sender.stop();
  }

  /** Settles when all work has ended. */
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

  /**
   * Commit time of the oldest item that Kafka lacks.
   *
   * @returns {number | null} epoch ms; null: Kafka has all items
   */
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
