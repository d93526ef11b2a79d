import { useEffect, useMemo } from 'preact/hooks';
import { nullIfMissing } from '../api/request.ts';
import type { DeviceInfo, LatestItem } from '../api/types.ts';
import { useQuery, useServices } from './hooks.ts';

/** Polling interval for device state and sensor list, in ms. The values come over the event stream instead. */
const REFRESH = { refreshMs: 10_000 };

export function useDevice(device: string) {
  const { client, live } = useServices();
  // A missing device is a valid answer, because the device may appear while the page is open.
  const answer = useQuery(
    device,
    async (signal) => ({ device: await client.device(device, signal).catch(nullIfMissing) }),
    REFRESH,
  );
  const found = answer.data?.device ?? null;
  const items = useMemo(() => (found ? itemsOf(found) : null), [found]);
  const missing = answer.data?.device === null;
  useEffect(() => {
    // A missing device is subscribed, too, so that the state of the connection is known.
    if (missing) live.follow({ devices: [device] });
    if (!found || !items) return;
    live.seed(items);
    live.follow({ devices: [found.device_id] });
  }, [live, device, missing, found, items]);
  return { ...answer, device: found, items, missing };
}

const words = new Intl.Collator('en', { numeric: true });

function itemsOf({ device_id, name, site, sensors }: DeviceInfo): LatestItem[] {
  const byName = sensors.toSorted((a, b) => words.compare(a.name ?? a.sensor_id, b.name ?? b.sensor_id));
  return byName.map((sensor) => ({
    device_id,
    sensor_id: sensor.sensor_id,
    device: name,
    name: sensor.name,
    type: sensor.type,
    unit: sensor.unit,
    label: sensor.label,
    site,
    interval_ms: sensor.interval_ms,
    ts: sensor.ts,
    value: sensor.value,
  }));
}

/** Number of sensors of a device that the page shows at first, and that each click on "more" adds. */
const STEP = 12;

/** Selects sensors of a device, which may have thousands, by the parameters `find` and `shown`. @returns `more`: the next `shown` */
export function chooseSensors<
  T extends { name: string | null; label?: string | null; type: string | null; sensor_id: string },
>(items: T[], query: URLSearchParams): { shown: T[]; found: number; more: string | null } {
  const part = (query.get('find') ?? '').toLowerCase();
  const found = part ? items.filter((item) => searchableText(item).includes(part)) : items;
  const limit = Math.max(Math.trunc(Number(query.get('shown'))) || 0, STEP);
  return {
    shown: found.slice(0, limit),
    found: found.length,
    more: found.length > limit ? String(limit + STEP) : null,
  };
}

const searchableText = ({
  name,
  label,
  type,
  sensor_id,
}: {
  name: string | null;
  label?: string | null;
  type: string | null;
  sensor_id: string;
}) => [name ?? sensor_id, label, type].join('\n').toLowerCase();

export const needsChoice = (count: number): boolean => count > STEP;

/** Groups sensors by unit, in the order of the charts. @param items sorted by name */
export function byUnit<T extends { type: string | null; unit: string | null }>(
  items: T[],
): { label: string; items: T[] }[] {
  const groups: Map<string, T[]> = new Map();
  for (const item of items) {
    const unit = item.unit ?? '';
    groups.set(unit, [...(groups.get(unit) ?? []), item]);
  }
  return [...groups].map(([label, of]) => ({ label, items: of }));
}

/** The registry is up to a minute late, so a newer sample is more exact. Samples later than `now` (epoch ms) come from a clock that is ahead. */
export function lastSeenAt(
  lastSeen: string | null,
  sensors: Iterable<{ ts: string | null }>,
  now: number,
): string | null {
  const latest = new Date(now).toISOString();
  let newest = lastSeen;
  for (const { ts } of sensors) if (ts && ts <= latest && ts > (newest ?? '')) newest = ts;
  return newest;
}
