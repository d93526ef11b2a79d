import { ByteQueue, type Waiting } from './byte-queue.ts';
import { chunks, type KafkaSender, type OutRecord } from './kafka/sender.ts';

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
 */
export class TopicQueue<T extends Waiting> {
  #queue;
  #deps;
  /** Items that are being sent, until Kafka has them. */
  #sending: T[] = [];
  #stopping = new AbortController();
  #running = Promise.resolve();

  constructor(deps: {
    /** bytes */
    limit: number;
    /** only for this topic */
    sender: KafkaSender;
    /** settles when records can be encoded; false: the signal aborted first */
    prepare: (signal: AbortSignal) => Promise<boolean>;
    toRecords: (item: T) => OutRecord[];
    onSent: (item: T) => void;
  }) {
    this.#deps = deps;
    this.#queue = new ByteQueue(deps.limit) as ByteQueue<T>;
  }

  /** Reserves room. @returns false: there is no room */
  reserve(bytes: number, items?: number): boolean {
    return this.#queue.reserve(bytes, items);
  }

  /** Adds an item that has reserved its room. */
  push(item: T) {
    this.#queue.push(item);
  }

  start() {
    this.#running = this.#run();
  }

  /** Stops after the request that is being sent. @param withinMs time limit for sending the waiting items */
  async stop(withinMs: number) {
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

  /** Commit time of the oldest item that Kafka lacks. @returns epoch ms; null: Kafka has all items */
  get oldest(): number | null {
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
