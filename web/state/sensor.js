import { useCallback, useEffect } from 'preact/hooks';
import { useChanges, useServices } from './hooks.js';
import { keyOf } from './live.js';
import { useQuery } from './use-query.js';

/** @import { LatestItem } from '../api/types.js' */

/**
 * One sensor and its newest value, which from then on is followed live.
 *
 * @param {string} device id or name
 * @param {string} sensor id or name
 */
export function useSensor(device, sensor) {
  const { client, live } = useServices();
  const answer = useQuery(`${device}/${sensor}`, (signal) => client.sensor(device, sensor, signal));
  const { data } = answer;
  const key = data ? keyOf(data) : '';

  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  useEffect(() => {
    // The stream's snapshot brings the rest: the device's name and site.
    if (data) live.follow({ sensors: [[data.device_id, data.sensor_id]] });
  }, [live, data]);

  const seen = live.sensor(key);
  /** @type {LatestItem | null} */
  const item = seen?.item ?? (data ? { device: null, site: null, ...data } : null);
  return { ...answer, item, recent: seen?.recent ?? [] };
}

/** Values that a sparkline wants. */
const VALUES = 60;
/** With so many, it is a line already. */
const ENOUGH = 3;
/** Older values are left out, in ms. */
const LATELY_MS = 3_600_000;
/** Sensors asked for at once: the rest of the page goes first. */
const AT_ONCE = 3;

/**
 * Gives the rows of a page what their sensors measured before, so that no sparkline begins empty.
 *
 * @param {LatestItem[] | null} items the same array as long as the page is the same
 * @param {number} [atOnce] sensors asked for at once
 */
export function useTails(items, atOnce = AT_ONCE) {
  const { client, live } = useServices();
  useEffect(() => {
    if (!items) return undefined;
    const abort = new AbortController();
    const wanted = items.filter((item) => {
      const recent = live.sensor(keyOf(item))?.recent ?? [];
      return item.ts !== null && recent.length < ENOUGH;
    });

    /** @param {LatestItem} item */
    async function fetchTail({ device_id, sensor_id, ts }) {
      const newest = Date.parse(ts ?? '');
      const query = { limit: VALUES, from: newest - LATELY_MS, to: newest + 1 };
      const page = await client.measurements(device_id, sensor_id, query, abort.signal);
      const before = page.items.map(({ ts, value }) => ({ ts: Date.parse(ts), value })).reverse();
      live.seedBefore(`${device_id}/${sensor_id}`, before);
    }

    async function fetchInTurn() {
      for (let item = wanted.shift(); item && !abort.signal.aborted; item = wanted.shift())
        await fetchTail(item);
    }

    // A row without a line is no trouble: the stream draws it in time.
    for (let line = 0; line < atOnce; line += 1) fetchInTurn().catch(() => {});
    return () => abort.abort();
  }, [client, live, items, atOnce]);
}
