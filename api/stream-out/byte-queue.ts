/**
 * Memory of a waiting item in addition to its payload, in bytes: the object, its Buffers and its place in the queue. Measured:
 * 314 bytes on the heap.
 */
const ITEM_BYTES = 320;

/** An item that waits for Kafka. `size`: in bytes; `committedAt`: epoch ms */
export type Waiting = { size: number; committedAt: number };

/**
 * A queue whose size is limited in bytes. If an item has no room in the queue, it is not queued. The item stays in its table,
 * and the completion sends it when its hour has closed.
 */
export class ByteQueue<T extends Waiting> {
  #limit;
  #bytes = 0;
  /** undefined: the item was taken. */
  #items: Array<T | undefined> = [];
  /** Index of the first item that waits. Shifting a long array would copy it. */
  #first = 0;
  #wake = () => {};

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Reserves room for items. @param bytes total of all items @returns false: there is no room */
  reserve(bytes: number, items: number = 1): boolean {
    const room = bytes + items * ITEM_BYTES;
    if (this.#bytes + room > this.#limit) return false;
    this.#bytes += room;
    return true;
  }

  /** Adds an item that has reserved its room. */
  push(item: T) {
    this.#items.push(item);
    this.#wake();
  }

  /**
   * Takes the items that have waited longest. Their bytes stay reserved until `release`.
   * @param limit bytes
   * @returns at least one item, unless the queue is empty
   */
  take(limit: number): T[] {
    const from = this.#first;
    let bytes = 0;
    while (this.#first < this.#items.length) {
      const { size } = this.#items[this.#first] as T;
      if (this.#first > from && bytes + size > limit) break;
      bytes += size;
      this.#first++;
    }
    const taken = this.#items.slice(from, this.#first) as T[];
    // A waiting item must not keep the sent items before it in memory.
    this.#items.fill(undefined, from, this.#first);
    if (this.length === 0 || (this.#first > 1024 && this.#first * 2 > this.#items.length)) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }

  /** Frees the bytes of items that were taken. */
  release(items: T[]) {
    for (const { size } of items) this.#bytes -= size + ITEM_BYTES;
  }

  /** Settles when an item waits, when the signal aborts, or after `withinMs`. */
  untilFilled(withinMs: number, signal: AbortSignal): Promise<void> {
    if (this.length > 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(done, withinMs).unref();
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }

  /** Number of items that wait. */
  get length() {
    return this.#items.length - this.#first;
  }

  /** Bytes of all items that have reserved room: waiting for an earlier block of their device, queued, or being sent. */
  get bytes() {
    return this.#bytes;
  }

  /** Commit time of the item that has waited longest. @returns epoch ms; null: no item waits */
  get oldest(): number | null {
    return this.#items[this.#first]?.committedAt ?? null;
  }
}
