import type { Json } from '../json.ts';

/**
 * Follows `next` to the end, and returns each page separately.
 * @param path below /api/v1, with its query
 * @param between called after each page but the last
 * @returns the items of each page
 */
export async function pagesOf(
  system: { get: (path: string) => Promise<Json> },
  path: string,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Json[][]> {
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

export const withCursor = (path: string, cursor: string) =>
  `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
