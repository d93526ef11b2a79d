import { useCallback, useEffect, useRef } from 'preact/hooks';
import { nullIfMissing } from '../api/request.ts';
import type { BaselineHour, DeviceEvent, LatestItem } from '../api/types.ts';
import { formatSpan } from '../format.ts';
import { useChanges, useQuery, useServices } from './hooks.ts';
import { keyOf } from './live.ts';
import { levelOf, NORMAL, OFFLINE, SILENT, silentAfterMs } from './outliers.ts';
import type { Stale } from './verdict.ts';

const AGAIN = { refreshMs: 10_000 };

/**
 * One sensor and its newest value, which from then on is followed live. It may appear, change its labels or be retired at any time, and the
 * stream reports only its values and some labels.
 *
 * @param device id or name
 * @param sensor id or name
 */
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
    // Without a stream, the state of the connection would stay unknown.
    if (missing) live.follow({ devices: [device] });
    // The stream's snapshot brings the rest: the device's name and site.
    if (data) live.follow({ sensors: [[data.device_id, data.sensor_id]] });
  }, [live, device, missing, data]);

  const seen = live.sensor(key);
  const item: LatestItem | null = seen?.item ?? (data ? { device: null, site: null, ...data } : null);
  return { ...answer, data, missing, item, recent: seen?.recent ?? [] };
}

/** The number of values of a sparkline. */
const VALUES = 60;
/** With this number of values, a sparkline needs no request. */
const ENOUGH = 3;
/** Older values are left out, in ms. */
const LATELY_MS = 3_600_000;
/** Sensors asked for at once: the rest of the page goes first. */
const AT_ONCE = 3;

/**
 * Gives the rows of a page what their sensors measured before, so that no sparkline begins empty.
 *
 * @param items null: nobody looks at them yet. Each of them is asked for once
 * @param atOnce sensors asked for at once
 */
export function useTails(items: LatestItem[] | null, atOnce: number = AT_ONCE) {
  const { client, live } = useServices();
  /** Keys of sensors that were asked for. A list is made again every ten seconds, and a slow sensor may have fewer values for hours. */
  const known = useRef<Set<string>>(new Set());
  useEffect(() => {
    if (!items) return undefined;
    const abort = new AbortController();
    const wanted = items.filter((item) => {
      const key = keyOf(item);
      const recent = live.sensor(key)?.recent ?? [];
      return item.ts !== null && recent.length < ENOUGH && !known.current.has(key);
    });

    async function fetchTail({ device_id, sensor_id, ts }: LatestItem) {
      const newest = Date.parse(ts ?? '');
      const query = { limit: VALUES, from: newest - LATELY_MS, to: newest + 1 };
      const page = await client.measurements(device_id, sensor_id, query, abort.signal);
      known.current.add(keyOf({ device_id, sensor_id }));
      const before = page.items.map(({ ts, value }) => ({ ts: Date.parse(ts), value })).reverse();
      live.seedBefore(keyOf({ device_id, sensor_id }), before);
    }

    async function fetchInTurn() {
      for (let item = wanted.shift(); item && !abort.signal.aborted; item = wanted.shift())
        await fetchTail(item);
    }

    // An error is ignored: the stream completes the line later.
    for (let line = 0; line < atOnce; line += 1) fetchInTurn().catch(() => {});
    return () => abort.abort();
  }, [client, live, items, atOnce]);
}

/** Why the newest value of a sensor does not describe the present. `cellState`: of its cell on the wall. */
export type Outdated = { cellState: number; text: string };

/** @returns null: the value is current */
export function outdatedOf({
  at,
  intervalMs,
  offlineAt,
  stale,
  now,
}: {
  /** epoch ms of the newest value */
  at: number;
  /** of the sensor, as its birth announced it */
  intervalMs: number | null;
  /** epoch ms when the device went offline; null: it is online, or announces no state */
  offlineAt: number | null;
  /** of the page */
  stale: Stale | null;
  /** epoch ms */
  now: number;
}): Outdated | null {
  const age = formatSpan(Math.max(0, now - at));
  if (stale) {
    const reason = stale.isLost ? 'the connection is lost' : 'nothing is stored';
    return { cellState: SILENT, text: `Measured ${age} ago: ${reason}` };
  }
  if (offlineAt !== null) return { cellState: OFFLINE, text: `Device offline, measured ${age} ago` };
  if (now - at > silentAfterMs(intervalMs ?? 0)) return { cellState: SILENT, text: `Silent for ${age}` };
  return null;
}

/** Births may come between a state and now. */
const EVENTS = 10;

/**
 * When the device of a sensor went offline, by its events.
 *
 * @param device id or name
 * @returns epoch ms; null: it is online, announces no state, or nothing is known
 */
export function useOfflineAt(device: string): number | null {
  const { client } = useServices();
  const { data } = useQuery(
    `offline ${device}`,
    (signal) => client.events(device, { limit: EVENTS }, signal),
    AGAIN,
  );
  return offlineAtOf(data?.items ?? []);
}

/**
 * @param newest first
 * @returns epoch ms
 */
export function offlineAtOf(newest: DeviceEvent[]): number | null {
  const last = newest.find(({ kind }) => kind !== 'birth');
  return last?.kind === 'offline' ? Date.parse(last.ts) : null;
}

/** The server learns once a day, but a provisional baseline changes within a minute, and so does what is not judged yet. */
const HOUR_MS = 3_600_000;

/** Of a sensor's newest value. */
interface Deviation {
  /** its baseline */
  mean: number;
  /** the deviation around the mean, in the same unit */
  deviation: number;
  /** how far the value is above or (negative) below the mean */
  off: number;
  /** of its cell on the wall */
  cellState: number;
  /** judged by a provisional baseline */
  provisional: boolean;
}

/**
 * How far off a sensor's newest value is, as the server judges it.
 *
 * @returns null: not judged, or not known yet
 */
export function useDeviation(item: LatestItem): Deviation | null {
  const { client } = useServices();
  const { device_id: device, sensor_id: sensor } = item;
  const { data } = useQuery(
    `baseline ${device}/${sensor}`,
    (signal) => client.baseline(device, sensor, signal),
    AGAIN,
  );
  return data && deviationOf(item, data.hours);
}

/** @returns null: nothing is known of the hour of its value */
export function deviationOf(
  { ts, value }: Pick<LatestItem, 'ts' | 'value'>,
  hours: readonly BaselineHour[],
): Deviation | null {
  if (ts === null || value === null) return null;
  const at = Date.parse(ts);
  const hour = hours.find(({ ts: start }) => Date.parse(start) === at - (at % HOUR_MS));
  if (!hour) return null;
  const off = value - hour.mean;
  // A sensor that was always 0 has no deviation: any other value is far off.
  const sigmas = off === 0 ? 0 : off / hour.deviation;
  const { mean, deviation, provisional } = hour;
  return { mean, deviation, off, cellState: NORMAL + levelOf(sigmas), provisional };
}
