/** Heap bytes of a waiting item in addition to its payload. Measured: 314 bytes. */
const ITEM_BYTES = 320;

export type Waiting = { size: number; committedAt: number };

/** Limited in bytes. An item without room stays in its table, and the completion sends it when its hour has closed. */
export class ByteQueue<T extends Waiting> {
  #limit;
  #bytes = 0;
  /** undefined: the item was taken */
  #items: Array<T | undefined> = [];
  /** First index that waits. Shifting a long array would copy it. */
  #first = 0;
  #wake = () => {};

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `bytes` is the total of all items. False: there is no room. */
  reserve(bytes: number, items: number = 1): boolean {
    const room = bytes + items * ITEM_BYTES;
    if (this.#bytes + room > this.#limit) return false;
    this.#bytes += room;
    return true;
  }

  push(item: T) {
    this.#items.push(item);
    this.#wake();
  }

  /** The bytes of the taken items stay reserved until `release`. Takes at least one item, unless the queue is empty. */
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

  release(items: T[]) {
    for (const { size } of items) this.#bytes -= size + ITEM_BYTES;
  }

  /** Settles also when the signal aborts, or after `withinMs`. */
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

  get length() {
    return this.#items.length - this.#first;
  }

  /** All reserved bytes: of items that wait for an earlier block of their device, are queued, or are being sent. */
  get bytes() {
    return this.#bytes;
  }

  /** In epoch ms; null: no item waits. */
  get oldest(): number | null {
    return this.#items[this.#first]?.committedAt ?? null;
  }
}
