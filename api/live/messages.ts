import { formatTime } from '../../common/times.ts';
import type { Device, Sensor } from '../ingest/registry/cache.ts';

/** As `/latest`, `/stream` and `iot/live` have it. */
export interface LiveItem {
  device_id: string;
  sensor_id: string;
  device: string | null;
  name: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  /** in ms, as the device announced it; only in items from the database */
  interval_ms?: number;
  /** ISO 8601 in UTC, with milliseconds. Such texts sort by time */
  ts: string | null;
  value: number | null;
  /** a correction decides what is shown of samples up to this instant; only while no newer sample is known */
  corrected_until?: string;
}

export function liveItem(device: Device, sensor: Sensor): LiveItem {
  const { ts, correctedUntil: until } = sensor;
  const item: LiveItem = {
    device_id: device.id,
    sensor_id: sensor.id,
    device: device.name,
    name: sensor.name,
    type: sensor.type,
    unit: sensor.unit,
    site: sensor.site,
    ts: ts === null ? null : formatTime(ts),
    value: sensor.value,
  };
  if (until !== undefined && (ts === null || ts <= until)) item.corrected_until = formatTime(until);
  return item;
}

/** A broker without access control lets any client publish on these topics. @returns null: the message is not valid */
export function readItems(device: string, payload: Buffer): LiveItem[] | null {
  try {
    const items = JSON.parse(payload.toString());
    return Array.isArray(items) && items.every((item) => isItemOf(device, item)) ? items : null;
  } catch {
    return null;
  }
}

const isText = (text: unknown) => text === null || typeof text === 'string';

/** The form of `formatTime`. Readers compare times as texts, so all times must have this form. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const isTime = (ts: unknown) => typeof ts === 'string' && TIME.test(ts) && !Number.isNaN(Date.parse(ts));

const isItemOf = (device: string, item: { [K in keyof LiveItem]?: unknown } | null) =>
  item?.device_id === device &&
  typeof item.sensor_id === 'string' &&
  // A removal may leave no sample.
  ((item.ts === null && item.value === null && item.corrected_until !== undefined) ||
    (isTime(item.ts) && Number.isFinite(item.value))) &&
  (item.corrected_until === undefined || isTime(item.corrected_until)) &&
  [item.device, item.name, item.type, item.unit, item.site].every(isText);

const PREFIX = 'iot/live/';

/** This wildcard in place of a device id gives the whole fleet. */
export const EVERY_DEVICE = '+';

export const liveTopic = (device: string) => PREFIX + device;

/** In bytes. A larger message of a channel is not valid. */
const MAX_CHANNEL_BYTES = 16 * 1024;

/** @returns the known members of a parsed message; null: not valid. It may throw for a message that is not valid. */
// biome-ignore lint/suspicious/noExplicitAny: any client may have sent it, so it is any JSON
export type ReadMessage = (message: any) => object | null;

/** @returns JSON in one line; null: not valid */
export function readChannel(payload: Buffer, read: ReadMessage): string | null {
  if (payload.length > MAX_CHANNEL_BYTES) return null;
  try {
    const message = read(JSON.parse(payload.toString()));
    return message && JSON.stringify(message);
  } catch {
    return null;
  }
}

const STATS = `${PREFIX}stats/`;

export const EVERY_PROCESS = `${STATS}+`;

export const statsTopic = (process: string): string => STATS + encodeURIComponent(process);

/** @param topic below `iot/live/` @returns the process of the statistics; null: no statistics */
export function statsProcess(topic: string): string | null {
  if (!topic.startsWith(STATS)) return null;
  try {
    return decodeURIComponent(topic.slice(STATS.length));
  } catch {
    // Millrace does not publish statistics on such a topic, so no process has this name.
    return '';
  }
}

const READERS = `${PREFIX}readers/`;

/** The devices that the readers of a process follow (`interest.ts`). */
export const EVERY_READER = `${READERS}+`;

export const readerTopic = (process: string) => READERS + process;

/** null: the topic has no announcement */
export const readerOf = (topic: string): string | null =>
  topic.startsWith(READERS) ? topic.slice(READERS.length) : null;

export const isStatsTopic = (topic: string) => topic.startsWith(STATS);

/** After `iot/live/{device}`, counted from 0. */
export const FIRST_NAMED_LEVEL = 3;

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A named topic (`named-topics.ts`), or the topic of a channel. */
export const isNamedTopic = (topic: string) =>
  topic.startsWith(PREFIX) && !isStatsTopic(topic) && readerOf(topic) === null && !ID.test(liveDevice(topic));

export const liveDevice = (topic: string): string => topic.slice(PREFIX.length);

/** Only the first two levels of the filter are compared, so the answer may be true for a filter that matches no topic. */
export function reachesLive(filter: string) {
  const [first = '', second = '#'] = filter.split('/', 2);
  return first === '#' || (['+', 'iot'].includes(first) && ['+', '#', 'live'].includes(second));
}

/**
 * User property with the time from the oldest commit in a message to its sending, in whole ms. The receiver subtracts
 * this duration from its own clock, because the clocks of two machines differ.
 */
export const WAITED = 'waited_ms';
