/**
 * Follows `next` to the end, and returns each page separately.
 *
 * @param {{ get: (path: string) => Promise<any> }} system
 * @param {string} path below /api/v1, with its query
 * @param {(page: number) => Promise<void>} [between] called after each page but the last
 * @returns {Promise<any[][]>} the items of each page
 */
export async function pagesOf(system, path, between = async () => {}) {
  const pages = [];
  let cursor = null;
  do {
    if (pages.length > 0) await between(pages.length);
    const { items, next } = await system.get(cursor ? withCursor(path, cursor) : path);
    pages.push(items);
    cursor = next;
  } while (cursor);
  return pages;
}

/** @param {string} path @param {string} cursor */
export const withCursor = (path, cursor) =>
  `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
