/** Memory of a waiting item besides its bytes: the object, its keys, its place in the queue. Measured: 190 to 230 bytes. */
const ITEM_BYTES = 256;

/** What waits for Kafka. @typedef {{ size: number, committedAt: number }} Waiting `size`: in bytes; `committedAt`: epoch ms */

/**
 * A queue that is bounded in bytes. What it cannot take is left out: it stays in the table, and is sent when its hour has closed.
 *
 * @template {Waiting} T
 */
export class ByteQueue {
  #limit;
  #bytes = 0;
  /** undefined: it was taken. @type {Array<T | undefined>} */
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
   * @param {number} bytes of all of them
   * @param {number} [items]
   * @returns {boolean} false: there is none
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

  /** The items that wait longest. They keep their room. @param {number} limit bytes @returns {T[]} at least one, if any waits */
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
    // An item that was sent must not stay in memory because others wait.
    this.#items.fill(undefined, from, this.#first);
    if (this.length === 0 || (this.#first > 1024 && this.#first * 2 > this.#items.length)) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }

  /** Returns the room of items that were taken. @param {T[]} items */
  release(items) {
    for (const { size } of items) this.#bytes -= size + ITEM_BYTES;
  }

  /** Settles when an item waits, or at the end of the signal or the time. @param {number} withinMs @param {AbortSignal} signal @returns {Promise<void>} */
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

  /** Items that wait. */
  get length() {
    return this.#items.length - this.#first;
  }

  /** Bytes of items that wait, are held for their order, or are being sent. */
  get bytes() {
    return this.#bytes;
  }

  /** When the item that waits longest was committed. @returns {number | null} epoch ms; null: none waits */
  get oldest() {
    return this.#items[this.#first]?.committedAt ?? null;
  }
}
