import { useParts } from './hooks.js';
import { useQuery } from './use-query.js';

export const FILTERS = ['name', 'type', 'site'];
export const PAGE_ROWS = 25;

/** With several filters the API may give pages that are empty before the end: it reads a bounded number of rows for each. */
const MOST_EMPTY_PAGES = 20;

/** Values come by the stream; sensors that are new are found by asking again. */
const REFRESH = { refreshMs: 10_000 };

/**
 * One page of the fleet's latest values; the stream of the whole fleet keeps them new.
 *
 * @param {URLSearchParams} query filters and cursor, as they stand in the address
 */
export function useLatestPage(query) {
  const { client, live, vocabulary } = useParts();

  return useQuery(
    [...FILTERS, 'cursor'].map((name) => query.get(name)).join('\n'),
    async (signal) => {
      const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
      let page = await client.latest({ ...filters, cursor: query.get('cursor'), limit: PAGE_ROWS }, signal);
      for (let empty = 1; page.items.length === 0 && page.next && empty < MOST_EMPTY_PAGES; empty += 1) {
        page = await client.latest({ ...filters, cursor: page.next, limit: PAGE_ROWS }, signal);
      }
      live.seed(page.items);
      vocabulary.learn(page.items);
      return page;
    },
    REFRESH,
  );
}
