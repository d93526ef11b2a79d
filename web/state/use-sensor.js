import { useCallback, useEffect } from 'preact/hooks';
import { useChanges, useParts } from './hooks.js';
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
  const { client, live } = useParts();
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
