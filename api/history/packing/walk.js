/** @template T @typedef {import('../../store/history/unpacked.js').Page<T>} Page */

/**
 * Everything that comes in pages, a page in memory at a time.
 *
 * @template T
 * @param {(after: string | undefined) => Promise<Page<T>>} read
 * @returns {AsyncGenerator<T, void>}
 */
export async function* walkPages(read) {
  /** @type {string | undefined} */
  let after;
  do {
    const { items, next } = await read(after);
    yield* items;
    after = next;
  } while (after);
}
