/** What was taken is cleared away when it is this much, and half of all. */
const CLEARED_FROM = 1024;

/**
 * First in, first out, in constant time however long it grows: `Array.shift` moves all that is left, each time.
 *
 * @template T
 */
export function createFifo() {
  /** @type {T[]} */
  let items = [];
  let head = 0;
  return {
    get length() {
      return items.length - head;
    },
    /** @param {T} item */
    push(item) {
      items.push(item);
    },
    /** @returns {T | undefined} */
    shift() {
      if (head === items.length) return undefined;
      const item = items[head];
      head += 1;
      if (head >= CLEARED_FROM && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
