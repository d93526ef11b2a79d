/** Requests that one page makes at most: a page of a large, mostly empty fleet is short rather than slow. */
const MOST_READS_A_PAGE = 32;

/** Keys that one page reads at most when what is read has to be checked. */
const MOST_CHECKED_A_PAGE = 1000;

/** Keys that are read at once for checking: with few wanted of many, single ones would mean a request for each. */
const CHECKED_AT_ONCE = 100;

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
 * @param {boolean} page.checked whether what is read has to be checked: more may be read then than is handed out
 * @param {(place: Place<K>, wanted: number) => Promise<Array<Entry<R, K>>>} page.read the entries of `place.group`
 *   after `place.key`, in order; fewer than wanted: the group has no more
 * @returns {Promise<{ rows: R[], next: Place<K> | null }>} `next` is null at the end
 */
export async function walkGroups({ groups, from, limit, checked, read }) {
  /** @type {R[]} */
  const rows = [];
  let place = from;
  let budget = checked ? MOST_CHECKED_A_PAGE : limit;
  for (let reads = 0; reads < MOST_READS_A_PAGE && budget > 0; reads++) {
    const missing = limit - rows.length;
    const wanted = Math.min(checked ? Math.max(missing, CHECKED_AT_ONCE) : missing, budget);
    const entries = await read(place, wanted);
    const { group } = place;
    for (const { key, row } of entries) {
      if (row === null) continue;
      if (rows.length === limit) return { rows, next: place };
      rows.push(row);
      place = { group, key };
    }
    budget -= entries.length;
    if (entries.length === wanted) place = { group, key: entries.at(-1)?.key };
    else if (group + 1 < groups) place = { group: group + 1 };
    else return { rows, next: null };
    if (rows.length === limit) break;
  }
  return { rows, next: place };
}
