/**
 * Memory of a waiting item in addition to its payload, in bytes: the object, its Buffers and its place in the queue. Measured:
 * 314 bytes on the heap.
 */
const ITEM_BYTES = 320;

/**
 * An item that waits for Kafka.
 *
 * @typedef {{ size: number, committedAt: number }} Waiting `size`: in bytes; `committedAt`: epoch ms
 */

/**
 * A queue whose size is limited in bytes. If an item has no room in the queue, it is not queued. The item stays in its table,
 * and the completion sends it when its hour has closed.
 *
 * @template {Waiting} T
 */
export class ByteQueue {
  #limit;
  #bytes = 0;
  /** undefined: the item was taken. @type {Array<T | undefined>} */
  #items = [];
  /** Index of the first item that waits. Shifting a long array would copy it. */
  #first = 0;
  #wake = () => {};

  /** @param {number} limit bytes */
  constructor(limit) {
    this.#limit = limit;
  }

  /**
   * Reserves room for items.
   *
   * @param {number} bytes total of all items
   * @param {number} [items]
   * @returns {boolean} false: there is no room
   */
  reserve(bytes, items = 1) {
    const room = bytes + items * ITEM_BYTES;
    if (this.#bytes + room > this.#limit) return false;
    this.#bytes += room;
    return true;
  }

  /** Adds an item that has reserved its room. @param {T} item */
  push(item) {
    this.#items.push(item);
    this.#wake();
  }

  /**
   * Takes the items that have waited longest. Their bytes stay reserved until `release`.
   *
   * @param {number} limit bytes
   * @returns {T[]} at least one item, unless the queue is empty
   */
  take(limit) {
    const from = this.#first;
    let bytes = 0;
    while (this.#first < this.#items.length) {
      const { size } = /** @type {T} */ (this.#items[this.#first]);
      if (this.#first > from && bytes + size > limit) break;
      bytes += size;
      this.#first++;
    }
    const taken = /** @type {T[]} */ (this.#items.slice(from, this.#first));
    // A waiting item must not keep the sent items before it in memory.
    this.#items.fill(undefined, from, this.#first);
    if (this.length === 0 || (this.#first > 1024 && this.#first * 2 > this.#items.length)) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }

  /** Frees the bytes of items that were taken. @param {T[]} items */
  release(items) {
    for (const { size } of items) this.#bytes -= size + ITEM_BYTES;
  }

  /**
   * Settles when an item waits, when the signal aborts, or after `withinMs`.
   *
   * @param {number} withinMs
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  untilFilled(withinMs, signal) {
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

  /**
   * Commit time of the item that has waited longest.
   *
   * @returns {number | null} epoch ms; null: no item waits
   */
  get oldest() {
    return this.#items[this.#first]?.committedAt ?? null;
  }
}
