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
