/** @import { Page } from '../api/types.js' */

/** Requests for one page at most: a page of what is rare in a large fleet is short rather than slow. */
const MOST_REQUESTS = 20;

/**
 * A page that is full where there is as much. With filters the API looks at a bounded number of rows for each answer, which may
 * then be short, even empty, before the end.
 *
 * @template T
 * @param {object} page
 * @param {string | null} page.cursor
 * @param {number} page.limit
 * @param {(part: { cursor: string | null, limit: number }) => Promise<Page<T>>} page.ask
 * @returns {Promise<Page<T>>}
 */
export async function fillPage({ cursor, limit, ask }) {
  /** @type {T[]} */
  const items = [];
  let next = cursor;
  for (let request = 0; request < MOST_REQUESTS; request += 1) {
    const part = await ask({ cursor: next, limit: limit - items.length });
    items.push(...part.items);
    next = part.next;
    if (next === null || items.length >= limit) break;
  }
  return { items, next };
}
