import { formatTime } from '../../common/times.js';

/** @import { Device, Sensor } from '../ingest/registry/cache.js' */

/**
 * A sensor with its newest committed value, as `/latest`, `/stream` and `iot/live` have it.
 *
 * @typedef {object} LiveItem
 * @property {string} device_id
 * @property {string} sensor_id
 * @property {string | null} device the device's name
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {number} [interval_ms] interval of the measurements in ms, as the device announced it; only in items from the database
 * @property {string | null} ts ISO 8601 in UTC, with milliseconds. Such texts sort by time
 * @property {number | null} value
 */

/**
 * @param {Device} device
 * @param {Sensor} sensor
 * @returns {LiveItem}
 */
export const liveItem = (device, sensor) => ({
  device_id: device.id,
  sensor_id: sensor.id,
  device: device.name,
  name: sensor.name,
  type: sensor.type,
  unit: sensor.unit,
  site: sensor.site,
  ts: sensor.ts === null ? null : formatTime(sensor.ts),
  value: sensor.value,
});

/**
 * Validates a message from the broker. A broker without access control lets any client publish on these topics.
 *
 * @param {string} device id of the device in the topic
 * @param {Buffer} payload
 * @returns {LiveItem[] | null} null: the message is not valid
 */
export function readItems(device, payload) {
  try {
    const items = JSON.parse(payload.toString());
    return Array.isArray(items) && items.every((item) => isItemOf(device, item)) ? items : null;
  } catch {
    return null;
  }
}

/** @param {unknown} text */
const isText = (text) => text === null || typeof text === 'string';

/** Matches a time in the form of `formatTime`. Readers compare times as texts, so all times must have this form. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** @param {unknown} ts */
const isTime = (ts) => typeof ts === 'string' && TIME.test(ts) && !Number.isNaN(Date.parse(ts));

/** @param {string} device @param {any} item */
const isItemOf = (device, item) =>
  item?.device_id === device &&
  typeof item.sensor_id === 'string' &&
  isTime(item.ts) &&
  Number.isFinite(item.value) &&
  [item.device, item.name, item.type, item.unit, item.site].every(isText);

const PREFIX = 'iot/live/';

/** Readers of the whole fleet subscribe to this wildcard instead of a device id. */
export const EVERY_DEVICE = '+';

/** @param {string} device id of the device, or `EVERY_DEVICE` */
export const liveTopic = (device) => PREFIX + device;

/** The topic of alarm changes. No device has this topic: `named-topics.js` does not use it as a name. */
export const ALARMS = `${PREFIX}alarms`;

/** Limit of a message about an alarm, in bytes. A larger message is not valid, because the texts of an alarm are limited. */
const MAX_ALARM_BYTES = 16 * 1024;

/** @param {Buffer} payload from the broker @returns {string | null} JSON of a change of an alarm, in one line; null: not valid */
export function readAlarm(payload) {
  try {
    const { event, alarm } = JSON.parse(payload.toString());
    const isValid = typeof event === 'string' && typeof alarm?.alarm_id === 'string';
    return isValid && payload.length <= MAX_ALARM_BYTES ? JSON.stringify({ event, alarm }) : null;
  } catch {
    return null;
  }
}

const STATS = `${PREFIX}stats/`;

/** The filter for the statistics of all processes. */
export const EVERY_PROCESS = `${STATS}+`;

/** @param {string} process name of the process @returns {string} topic in ASCII, even if the name has other characters */
export const statsTopic = (process) => STATS + encodeURIComponent(process);

/** @param {string} topic below `iot/live/` @returns {string | null} the process whose statistics the topic has; null: no statistics */
export function statsProcess(topic) {
  if (!topic.startsWith(STATS)) return null;
  try {
    return decodeURIComponent(topic.slice(STATS.length));
  } catch {
    // Millrace does not publish statistics on such a topic, so no process has this name.
    return '';
  }
}

const READERS = `${PREFIX}readers/`;

/** The filter for the announcements of all processes with readers: the devices that their readers follow (`interest.js`). */
export const EVERY_READER = `${READERS}+`;

/** @param {string} process name of the process in ASCII */
export const readerTopic = (process) => READERS + process;

/** @param {string} topic @returns {string | null} name of the process whose announcement the topic has; null: no announcement */
export const readerOf = (topic) => (topic.startsWith(READERS) ? topic.slice(READERS.length) : null);

/** @param {string} topic or filter */
export const isStatsTopic = (topic) => topic.startsWith(STATS);

/** Index of the first level after `iot/live/{device}`, counted from 0. */
export const FIRST_FURTHER_LEVEL = 3;

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Checks whether a topic is a named topic (`named-topics.js`). @param {string} topic */
export const isFurtherTopic = (topic) =>
  topic.startsWith(PREFIX) &&
  topic !== ALARMS &&
  !isStatsTopic(topic) &&
  readerOf(topic) === null &&
  !ID.test(liveDevice(topic));

/** @param {string} topic below `iot/live/` @returns {string} id of the device */
export const liveDevice = (topic) => topic.slice(PREFIX.length);

/**
 * Checks whether a filter may match a live topic. Only the first two levels of the filter are compared, so the answer may be true
 * for a filter that matches no topic.
 *
 * @param {string} filter
 */
export function reachesLive(filter) {
  const [first = '', second = '#'] = filter.split('/', 2);
  return first === '#' || (['+', 'iot'].includes(first) && ['+', '#', 'live'].includes(second));
}
