import { useCallback, useEffect, useRef } from 'preact/hooks';
import { nullIfMissing } from '../api/request.ts';
import { keyOf } from '../api/stream/index.ts';
import type { DeviceEvent, LatestItem } from '../api/types.ts';
import { formatSpan } from '../format.ts';
import { NOT_LIVE, OFFLINE, oldAfterMs, SILENT } from './cells.ts';
import { useChanges, useQuery, useServices } from './hooks.ts';
import type { Stale } from './verdict.ts';

const AGAIN = { refreshMs: 10_000 };

/** The sensor is also polled, because the event stream reports only values and some labels. */
export function useSensor(device: string, sensor: string) {
  const { client, live } = useServices();
  const answer = useQuery(
    `${device}/${sensor}`,
    async (signal) => ({ sensor: await client.sensor(device, sensor, signal).catch(nullIfMissing) }),
    AGAIN,
  );
  const data = answer.data?.sensor ?? null;
  const missing = answer.data?.sensor === null;
  const key = data ? keyOf(data) : '';

  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  useEffect(() => {
    // A missing device is followed, too, because without a stream the state of the connection would stay unknown.
    if (missing) live.follow({ devices: [device] });
    // The snapshot of the event stream adds the name and site of the device.
    if (data) live.follow({ sensors: [[data.device_id, data.sensor_id]] });
  }, [live, device, missing, data]);

  const seen = live.sensor(key);
  const item: LatestItem | null = seen?.item ?? (data ? { device: null, site: null, ...data } : null);
  return { ...answer, data, missing, item, recent: seen?.recent ?? [] };
}

const SPARKLINE_VALUES = 60;
/** Number of known values from which a sparkline needs no request. */
const MIN_KNOWN_VALUES = 3;
const MAX_VALUE_AGE_MS = 3_600_000;
/** A small number, because the other requests of the page go first. */
const MAX_CONCURRENT_REQUESTS = 3;

/** Reads earlier values for the rows of a page, so that no sparkline starts empty. @param items null: the rows are not visible yet */
export function useTails(items: LatestItem[] | null, atOnce: number = MAX_CONCURRENT_REQUESTS) {
  const { client, live } = useServices();
  /** Keys of requested sensors. The list changes every 10 s, and a slow sensor may have too few values for hours. */
  const known = useRef<Set<string>>(new Set());
  useEffect(() => {
    if (!items) return undefined;
    const abort = new AbortController();
    const wanted = items.filter((item) => {
      const key = keyOf(item);
      const recent = live.sensor(key)?.recent ?? [];
      return item.ts !== null && recent.length < MIN_KNOWN_VALUES && !known.current.has(key);
    });

    async function fetchTail({ device_id, sensor_id, ts }: LatestItem) {
      const newest = Date.parse(ts ?? '');
      const query = { limit: SPARKLINE_VALUES, from: newest - MAX_VALUE_AGE_MS, to: newest + 1 };
      const page = await client.measurements(device_id, sensor_id, query, abort.signal);
      known.current.add(keyOf({ device_id, sensor_id }));
      const before = page.items.map(({ ts, value }) => ({ ts: Date.parse(ts), value })).reverse();
      live.seedBefore(keyOf({ device_id, sensor_id }), before);
    }

    async function fetchInTurn() {
      for (let item = wanted.shift(); item && !abort.signal.aborted; item = wanted.shift())
        await fetchTail(item);
    }

    // Errors are ignored, because the event stream completes the line later.
    for (let line = 0; line < atOnce; line += 1) fetchInTurn().catch(() => {});
    return () => abort.abort();
  }, [client, live, items, atOnce]);
}

/** The reason why the newest value of a sensor is not current. `cellState`: state of the cell of the sensor on the wall */
export type Outdated = { cellState: number; text: string };

/** Finds why the newest value of a sensor is not current. @returns null: the value is current */
export function outdatedOf({
  at,
  intervalMs,
  gapMs,
  offlineAt,
  stale,
  now,
}: {
  at: number;
  intervalMs: number | null;
  /** median time between two recent values in ms; 0: unknown */
  gapMs: number;
  /** time in epoch ms when the device went offline; null: the device is online, or announces no state */
  offlineAt: number | null;
  stale: Stale | null;
  now: number;
}): Outdated | null {
  const age = formatSpan(Math.max(0, now - at));
  if (stale) {
    const reason = stale.isLost ? 'the connection is lost' : 'nothing is stored';
    return { cellState: SILENT, text: `Measured ${age} ago: ${reason}` };
  }
  if (offlineAt !== null) return { cellState: OFFLINE, text: `Device offline, measured ${age} ago` };
  if (now - at <= oldAfterMs(Math.max(intervalMs ?? 0, gapMs))) return null;
  if (intervalMs !== null) return { cellState: SILENT, text: `Silent for ${age}` };
  return { cellState: NOT_LIVE, text: `Measured ${age} ago` };
}

/** Number of events that are read, because birth messages may follow the last change of state. */
const EVENTS = 10;

/** @returns time in epoch ms when the device went offline; null: it is online, announces no state, or is unknown */
export function useOfflineAt(device: string): number | null {
  const { client } = useServices();
  const { data } = useQuery(
    `offline ${device}`,
    (signal) => client.events(device, { limit: EVENTS }, signal),
    AGAIN,
  );
  return offlineAtOf(data?.items ?? []);
}

/** @returns time in epoch ms when the device went offline; null: the device is online, or its state is unknown */
export function offlineAtOf(newest: DeviceEvent[]): number | null {
  const last = newest.find(({ kind }) => kind !== 'birth');
  return last?.kind === 'offline' ? Date.parse(last.ts) : null;
}
