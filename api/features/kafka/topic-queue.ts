import { ByteQueue, type Waiting } from './byte-queue.ts';
import { chunks, type KafkaSender, type OutRecord } from './sender.ts';

/** In bytes of packed samples. Their encoding as JSON takes some 6 ms, in which no other code runs. */
export const ENCODED_AT_ONCE = 128 * 1024;

const IDLE_MS = 5000;

/** A topic that Kafka refuses fills its own queue and delays no other topic. */
export class TopicQueue<T extends Waiting> {
  #queue;
  #deps;
  #sending: T[] = [];
  #stopping = new AbortController();
  #running = Promise.resolve();

  constructor(deps: {
    limit: number;
    sender: KafkaSender;
    /** false: the signal aborted before records could be encoded */
    prepare: (signal: AbortSignal) => Promise<boolean>;
    toRecords: (item: T) => OutRecord[];
    onSent: (item: T) => void;
  }) {
    this.#deps = deps;
    this.#queue = new ByteQueue(deps.limit) as ByteQueue<T>;
  }

  reserve(bytes: number, items?: number): boolean {
    return this.#queue.reserve(bytes, items);
  }

  push(item: T) {
    this.#queue.push(item);
  }

  start() {
    this.#running = this.#run();
  }

  /** `withinMs`: time limit for sending the waiting items. */
  async stop(withinMs: number) {
    const deadline = performance.now() + withinMs;
    while (this.#queue.bytes > 0 && !this.isFailing && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.#stopping.abort();
    await this.#deps.sender.stop();
  }

  get ended() {
    return this.#running;
  }

  get bytes() {
    return this.#queue.bytes;
  }

  get isFailing() {
    return this.#deps.sender.failingForMs > 0;
  }

  /** Commit time in epoch ms of the oldest item that Kafka lacks; null: it has all items. */
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
