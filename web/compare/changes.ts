import { useEffect } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import { createLimit, withLimit } from '../api/client.ts';
import type { DeviceEvent, DeviceItem, LatestItem } from '../api/types.ts';
import { createReader } from '../chart/reader.ts';
import type { Shape } from '../chart/shape.ts';
import type { FleetSensor } from '../state/fleet.ts';
import { itemOf } from '../state/held-lists.ts';
import { useQuery, useServices } from '../state/hooks.ts';

/** What changed in the last hour, from the series and events that the API has. */

const HOUR_MS = 3_600_000;
/** The usual range comes from so many hours before the last one. */
const HOURS_BEFORE = 5;
/** Bins of five minutes, and one more at the edge. */
const POINTS = 12 * (HOURS_BEFORE + 1) + 1;
/** Fewer bins do not show what is usual. */
const LEAST_BINS = 12;
/** The usual range: without the outermost bins, and with as much air as half of it at each side. */
const OUTERMOST = 0.05;
const AIR = 0.5;
/** A constant value may move by this part of its size. */
const LEAST_AIR = 0.001;

/** Sensors and devices whose history is read. */
const MOST_SENSORS = 100;
const MOST_DEVICES = 300;
const MOST_EVENTS = 50;
const AT_ONCE = 3;

interface SensorChange {
  /** how often the value left its range or returned */
  crossings: number;
  /** the newest bin is out of it */
  isOut: boolean;
  /** epoch ms of the last crossing */
  at: number;
  /** of the usual range */
  low: number;
  high: number;
  /** the value that was furthest out */
  farthest: number;
}

/**
 * @param bins oldest first
 * @param since epoch ms of the start of the last hour
 * @returns null: the value stayed in its range, or too little is known
 */
export function changeOf({ ts, avg }: Pick<Shape, 'ts' | 'avg'>, since: number): SensorChange | null {
  const bins = ts.flatMap((at, index) => {
    const value = avg[index] ?? null;
    return value === null ? [] : [{ at, value }];
  });
  const before = bins.filter(({ at }) => at < since).map(({ value }) => value);
  if (before.length < LEAST_BINS) return null;
  const { low, high } = usualRange(before);
  const beyond = (value: number) => Math.max(low - value, value - high, 0);
  let [crossings, isOut, at, farthest] = [0, false, since, low];
  for (const bin of bins.filter((each) => each.at >= since)) {
    if (beyond(bin.value) > beyond(farthest)) farthest = bin.value;
    if (beyond(bin.value) > 0 === isOut) continue;
    isOut = !isOut;
    crossings += 1;
    at = bin.at;
  }
  return crossings === 0 ? null : { crossings, isOut, at, low, high, farthest };
}

function usualRange(values: number[]): { low: number; high: number } {
  const ordered = values.toSorted((a, b) => a - b);
  const cut = Math.floor(ordered.length * OUTERMOST);
  const [low = 0, high = 0] = [ordered[cut], ordered[ordered.length - 1 - cut]];
  const air = Math.max((high - low) * AIR, Math.max(Math.abs(low), Math.abs(high)) * LEAST_AIR);
  return { low: low - air, high: high + air };
}

/** `at`: epoch ms of the last change, `times`: all of them */
type DeviceChange = { isOnline: boolean; at: number; times: number };

/**
 * @param events newest first
 * @param since epoch ms
 * @returns null: it neither came nor went
 */
export function cameOrWent(events: DeviceEvent[], since: number): DeviceChange | null {
  const changes = events.filter(({ ts, kind }) => kind !== 'birth' && Date.parse(ts) >= since);
  const [newest] = changes;
  if (!newest) return null;
  return { isOnline: newest.kind === 'online', at: Date.parse(newest.ts), times: changes.length };
}

export type ChangedSensor = { item: LatestItem; change: SensorChange };
export type ChangedDevice = { device: DeviceItem; change: DeviceChange };

const REFRESH = { refreshMs: 60_000 };

/** What changed in the fleet within the last hour, read again each minute. */
export function useFleetChanges() {
  const { client, clock, live } = useServices();
  useEffect(() => live.follow({}), [live]);
  return useQuery(
    'changes',
    async (signal) => {
      const now = clock.now();
      const since = now - HOUR_MS;
      const careful = withLimit(client, createLimit(AT_ONCE));
      const [items, devices] = await Promise.all([
        candidates(client, [...live.fleet.sensors.values()], signal),
        devicesOf(client, since, signal),
      ]);
      const [sensors, moved] = await Promise.all([
        changedSensors(careful, items, { since, now }, signal),
        changedDevices(client, devices, since, signal),
      ]);
      return { sensors, devices: moved, sensorsRead: items.length, devicesRead: devices.length };
    },
    REFRESH,
  );
}

/** @returns those that are furthest off now */
async function candidates(client: Client, held: FleetSensor[], signal: AbortSignal): Promise<LatestItem[]> {
  if (held.length === 0) return (await client.latest({ limit: MOST_SENSORS }, signal)).items;
  return held
    .toSorted((a, b) => Math.abs(b.sigmas ?? 0) - Math.abs(a.sigmas ?? 0))
    .slice(0, MOST_SENSORS)
    .map(itemOf);
}

/**
 * @param times epoch ms
 * @returns those that changed most first
 */
async function changedSensors(
  client: Client,
  items: LatestItem[],
  { since, now }: { since: number; now: number },
  signal: AbortSignal,
): Promise<ChangedSensor[]> {
  const range = { from: since - HOURS_BEFORE * HOUR_MS, to: now };
  const read = items.map(async (item) => {
    const change = changeOf(await createReader(client, item).bins(range, POINTS, signal), since);
    return change ? [{ item, change }] : [];
  });
  const changed = (await Promise.all(read)).flat();
  return changed.sort((a, b) => b.change.crossings - a.change.crossings || b.change.at - a.change.at);
}

/**
 * @param since epoch ms
 * @returns of a large fleet first those that went within the hour
 */
async function devicesOf(client: Client, since: number, signal: AbortSignal): Promise<DeviceItem[]> {
  const [offline, all] = await Promise.all([
    client.devices({ state: 'offline', limit: MOST_DEVICES }, signal),
    client.devices({ limit: MOST_DEVICES }, signal),
  ]);
  const byId = new Map([...all.items, ...offline.items].map((device) => [device.device_id, device]));
  const hasGone = ({ online, last_seen }: DeviceItem) => !online && Date.parse(last_seen ?? '') >= since;
  return [...byId.values()].sort((a, b) => Number(hasGone(b)) - Number(hasGone(a))).slice(0, MOST_DEVICES);
}

/**
 * @param since epoch ms
 * @returns the newest change first
 */
async function changedDevices(
  client: Client,
  devices: DeviceItem[],
  since: number,
  signal: AbortSignal,
): Promise<ChangedDevice[]> {
  const limit = createLimit(AT_ONCE);
  const read = devices.map(async (device) => {
    const query = { from: since, limit: MOST_EVENTS };
    const page = await limit.run(() => client.events(device.device_id, query, signal), signal);
    const change = cameOrWent(page.items, since);
    return change ? [{ device, change }] : [];
  });
  return (await Promise.all(read)).flat().sort((a, b) => b.change.at - a.change.at);
}
