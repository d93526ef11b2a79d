/** Requests that one page makes at most: a page of a large, mostly empty fleet is short rather than slow. */
const MOST_READS_A_PAGE = 32;

/**
 * Where a page ended: a key and no position of the driver's, so that it may be kept for as long as one likes.
 *
 * @template K
 * @typedef {{ group: number, key?: K }} Place `key`: the last one read; none: before the group's first
 */

/**
 * What was read of one key; `row` is null where it does not belong in the page.
 *
 * @template R, K
 * @typedef {{ key: K, row: R | null }} Entry
 */

/**
 * A page that goes from group to group, in order, so that everything comes once.
 *
 * @template R, K
 * @param {object} page
 * @param {number} page.groups the walk ends before this one
 * @param {Place<K>} page.from
 * @param {number} page.limit rows, at most; there may be fewer before the end
 * @param {number} page.mostRead keys, at most
 * @param {(place: Place<K>, wanted: number) => Promise<Array<Entry<R, K>>>} page.read the entries of `place.group`
 *   after `place.key`, in order; fewer than wanted: the group has no more
 * @returns {Promise<{ rows: R[], next: Place<K> | null }>} `next` is null at the end
 */
export async function walkGroups({ groups, from, limit, mostRead, read }) {
  /** @type {R[]} */
  const rows = [];
  let place = from;
  let budget = mostRead;
  for (let reads = 0; reads < MOST_READS_A_PAGE; reads++) {
    // Never more than is still wanted: where every key belongs in the page, what is read is what is returned.
    const wanted = Math.min(limit - rows.length, budget);
    const entries = await read(place, wanted);
    for (const { row } of entries) if (row !== null) rows.push(row);
    budget -= entries.length;
    if (entries.length < wanted) {
      if (place.group + 1 >= groups) return { rows, next: null };
      place = { group: place.group + 1 };
    } else place = { group: place.group, key: entries.at(-1)?.key };
    if (rows.length >= limit || budget <= 0) break;
  }
  return { rows, next: place };
}
