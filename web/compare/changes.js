import { useEffect } from 'preact/hooks';
import { createLimit, withLimit } from '../api/client.js';
import { createReader } from '../chart/reader.js';
import { itemOf } from '../state/held-lists.js';
import { useQuery, useServices } from '../state/hooks.js';

/** @import { Client } from '../api/client.js' */
/** @import { DeviceEvent, DeviceItem, LatestItem } from '../api/types.js' */
/** @import { Shape } from '../chart/shape.js' */
/** @import { FleetSensor } from '../state/fleet.js' */

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

/**
 * @typedef {object} SensorChange
 * @property {number} crossings how often the value left its range or returned
 * @property {boolean} isOut the newest bin is out of it
 * @property {number} at epoch ms of the last crossing
 * @property {number} low of the usual range
 * @property {number} high
 * @property {number} farthest the value that was furthest out
 */

/**
 * @param {Pick<Shape, 'ts' | 'avg'>} bins oldest first
 * @param {number} since epoch ms of the start of the last hour
 * @returns {SensorChange | null} null: the value stayed in its range, or too little is known
 */
export function changeOf({ ts, avg }, since) {
  const bins = ts.flatMap((at, index) => {
    const value = avg[index] ?? null;
    return value === null ? [] : [{ at, value }];
  });
  const before = bins.filter(({ at }) => at < since).map(({ value }) => value);
  if (before.length < LEAST_BINS) return null;
  const { low, high } = usualRange(before);
  const beyond = (/** @type {number} */ value) => Math.max(low - value, value - high, 0);
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

/** @param {number[]} values @returns {{ low: number, high: number }} */
function usualRange(values) {
  const ordered = values.toSorted((a, b) => a - b);
  const cut = Math.floor(ordered.length * OUTERMOST);
  const [low = 0, high = 0] = [ordered[cut], ordered[ordered.length - 1 - cut]];
  const air = Math.max((high - low) * AIR, Math.max(Math.abs(low), Math.abs(high)) * LEAST_AIR);
  return { low: low - air, high: high + air };
}

/**
 * @typedef {{ isOnline: boolean, at: number, times: number }} DeviceChange `at`: epoch ms of the last change, `times`: all of them
 */

/**
 * @param {DeviceEvent[]} events newest first
 * @param {number} since epoch ms
 * @returns {DeviceChange | null} null: it neither came nor went
 */
export function cameOrWent(events, since) {
  const changes = events.filter(({ ts, kind }) => kind !== 'birth' && Date.parse(ts) >= since);
  const [newest] = changes;
  if (!newest) return null;
  return { isOnline: newest.kind === 'online', at: Date.parse(newest.ts), times: changes.length };
}

/** @typedef {{ item: LatestItem, change: SensorChange }} ChangedSensor */
/** @typedef {{ device: DeviceItem, change: DeviceChange }} ChangedDevice */

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

/** @param {Client} client @param {FleetSensor[]} held @param {AbortSignal} signal @returns {Promise<LatestItem[]>} those that are furthest off now */
async function candidates(client, held, signal) {
  if (held.length === 0) return (await client.latest({ limit: MOST_SENSORS }, signal)).items;
  return held
    .toSorted((a, b) => Math.abs(b.sigmas ?? 0) - Math.abs(a.sigmas ?? 0))
    .slice(0, MOST_SENSORS)
    .map(itemOf);
}

/**
 * @param {Client} client
 * @param {LatestItem[]} items
 * @param {{ since: number, now: number }} times epoch ms
 * @param {AbortSignal} signal
 * @returns {Promise<ChangedSensor[]>} those that changed most first
 */
async function changedSensors(client, items, { since, now }, signal) {
  const range = { from: since - HOURS_BEFORE * HOUR_MS, to: now };
  const read = items.map(async (item) => {
    const change = changeOf(await createReader(client, item).bins(range, POINTS, signal), since);
    return change ? [{ item, change }] : [];
  });
  const changed = (await Promise.all(read)).flat();
  return changed.sort((a, b) => b.change.crossings - a.change.crossings || b.change.at - a.change.at);
}

/**
 * @param {Client} client
 * @param {number} since epoch ms
 * @param {AbortSignal} signal
 * @returns {Promise<DeviceItem[]>} of a large fleet first those that went within the hour
 */
async function devicesOf(client, since, signal) {
  const [offline, all] = await Promise.all([
    client.devices({ state: 'offline', limit: MOST_DEVICES }, signal),
    client.devices({ limit: MOST_DEVICES }, signal),
  ]);
  const byId = new Map([...all.items, ...offline.items].map((device) => [device.device_id, device]));
  /** @param {DeviceItem} device */
  const hasGone = ({ online, last_seen }) => !online && Date.parse(last_seen ?? '') >= since;
  return [...byId.values()].sort((a, b) => Number(hasGone(b)) - Number(hasGone(a))).slice(0, MOST_DEVICES);
}

/**
 * @param {Client} client
 * @param {DeviceItem[]} devices
 * @param {number} since epoch ms
 * @param {AbortSignal} signal
 * @returns {Promise<ChangedDevice[]>} the newest change first
 */
async function changedDevices(client, devices, since, signal) {
  const limit = createLimit(AT_ONCE);
  const read = devices.map(async (device) => {
    const query = { from: since, limit: MOST_EVENTS };
    const page = await limit.run(() => client.events(device.device_id, query, signal), signal);
    const change = cameOrWent(page.items, since);
    return change ? [{ device, change }] : [];
  });
  return (await Promise.all(read)).flat().sort((a, b) => b.change.at - a.change.at);
}
