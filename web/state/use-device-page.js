import { useParts } from './hooks.js';
import { fillPage } from './pages.js';
import { useQuery } from './use-query.js';

/** @import { DeviceItem } from '../api/types.js' */

export const DEVICE_FILTERS = ['state', 'site', 'name'];
export const PAGE_ROWS = 25;

/** Whether a device is there is known by asking again. */
const REFRESH = { refreshMs: 10_000 };

/**
 * One page of the fleet's devices, asked for again every now and then.
 *
 * @param {URLSearchParams} query filters and cursor, as they stand in the address
 */
export function useDevicePage(query) {
  const { client, vocabulary } = useParts();
  const filters = Object.fromEntries(DEVICE_FILTERS.map((name) => [name, query.get(name)]));
  const cursor = query.get('cursor');
  return useQuery(
    JSON.stringify([filters, cursor]),
    async (signal) => {
      const page = await fillPage({
        cursor,
        limit: PAGE_ROWS,
        ask: (part) => client.devices({ ...filters, ...part }, signal),
      });
      vocabulary.learn(page.items.map(({ site }) => ({ type: null, site })));
      return page;
    },
    REFRESH,
  );
}
