/** @template T @typedef {import('../store/history/unpacked.js').Page<T>} Page */

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

/**
 * Rows that come sensor after sensor, those of one sensor together.
 *
 * @template {{ sensor: Buffer }} T
 * @param {AsyncIterable<T>} rows
 * @returns {AsyncGenerator<{ sensor: Buffer, rows: T[] }, void>}
 */
export async function* bySensor(rows) {
  /** @type {{ sensor: Buffer, rows: T[] } | null} */
  let group = null;
  for await (const row of rows) {
    if (group?.sensor.equals(row.sensor)) {
      group.rows.push(row);
      continue;
    }
    if (group) yield group;
    group = { sensor: row.sensor, rows: [row] };
  }
  if (group) yield group;
}

/**
 * Works through what comes one by one, a bounded number of items at once. After a failure nothing new is begun.
 *
 * @template T
 * @param {number} most
 * @param {AsyncGenerator<T, void>} items several loops share it, and it ends for all of them when one is left
 * @param {(item: T) => Promise<unknown>} work
 * @returns {Promise<void>} settles when nothing is under way any more
 * @throws what the first failure threw
 */
export async function someAtOnce(most, items, work) {
  const worker = async () => {
    for await (const item of items) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
