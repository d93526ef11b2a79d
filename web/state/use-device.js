import { useEffect, useMemo } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { useParts } from './hooks.js';
import { useQuery } from './use-query.js';

/** @import { DeviceInfo, LatestItem } from '../api/types.js' */

/** Values come by the stream; whether the device is there, and which sensors it has, by asking again. */
const REFRESH = { refreshMs: 10_000 };

/**
 * One device and its sensors, whose values are followed live.
 *
 * @param {string} device id or name
 */
export function useDevice(device) {
  const { client, live } = useParts();
  // That it is not there is an answer too, and may change either way while one looks.
  const answer = useQuery(
    device,
    async (signal) => ({ device: await client.device(device, signal).catch(nullIfMissing) }),
    REFRESH,
  );
  const found = answer.data?.device ?? null;
  const items = useMemo(() => (found ? itemsOf(found) : null), [found]);
  const missing = answer.data?.device === null;
  useEffect(() => {
    // One that is not there yet is followed, too: whether we are connected is said on every page.
    if (missing) live.follow({ devices: [device] });
    if (!found || !items) return;
    live.seed(items);
    live.follow({ devices: [found.device_id] });
  }, [live, device, missing, found, items]);
  return { ...answer, device: found, items, missing };
}

/** @param {unknown} error */
function nullIfMissing(error) {
  if (toProblem(error).code === 'not_found') return null;
  throw error;
}

const words = new Intl.Collator('en', { numeric: true });

/** @param {DeviceInfo} device @returns {LatestItem[]} its sensors in the form that pages and streams have, by name */
function itemsOf({ device_id, name, site, sensors }) {
  const byName = sensors.toSorted((a, b) => words.compare(a.name ?? a.sensor_id, b.name ?? b.sensor_id));
  return byName.map((sensor) => ({
    device_id,
    sensor_id: sensor.sensor_id,
    device: name,
    name: sensor.name,
    type: sensor.type,
    unit: sensor.unit,
    site,
    ts: sensor.ts,
    value: sensor.value,
  }));
}
