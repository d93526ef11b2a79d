/** Taken items are removed from the array when they are at least this many, and half of all. */
const CLEARED_FROM = 1024;

/**
 * First in, first out, in constant time however long it grows: `Array.shift` moves all that is left, each time.
 *
 * @template T
 */
export class Fifo {
  /** @type {T[]} */
  #items = [];
  #head = 0;

  /** Number of items. */
  get length() {
    return this.#items.length - this.#head;
  }

  /** Adds an item at the end. @param {T} item */
  push(item) {
    this.#items.push(item);
  }

  /** Removes the first item. @returns {T | undefined} undefined: there is none */
  shift() {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#head += 1;
    if (this.#head >= CLEARED_FROM && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
