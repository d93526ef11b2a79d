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
 * @property {number} [interval_ms] as announced. Only an item from the database has it
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
 * @param {string} device its id, by the topic
 * @param {Buffer} payload
 * @returns {LiveItem[] | null} null: it is not a valid message
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

/** Readers compare times as texts, so all must have the form of `formatTime`. */
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

/** Readers of the whole fleet subscribe to this. */
export const EVERY_DEVICE = '+';

/** @param {string} device its id, or `EVERY_DEVICE` */
export const liveTopic = (device) => PREFIX + device;

/** The topic of alarm changes. No device has this topic: `named-topics.js` does not use it as a name. */
export const ALARMS = `${PREFIX}alarms`;

/** Limit of a message about an alarm, in bytes. Its texts are bounded. */
const MAX_ALARM_BYTES = 16 * 1024;

/** @param {Buffer} payload from the broker @returns {string | null} JSON of a change of an alarm, in one line; null: it is not valid */
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

/** @param {string} process its name @returns {string} in ASCII, even if the name is not */
export const statsTopic = (process) => STATS + encodeURIComponent(process);

/** @param {string} topic below `iot/live/` @returns {string | null} the process that published its statistics */
export function statsProcess(topic) {
  if (!topic.startsWith(STATS)) return null;
  try {
    return decodeURIComponent(topic.slice(STATS.length));
  } catch {
    // Not a topic of Millrace's statistics.
    return '';
  }
}

const READERS = `${PREFIX}readers/`;

/** The filter for the announcements of all processes with readers. */
export const EVERY_READER = `${READERS}+`;

/** @param {string} process its name, of ASCII */
export const readerTopic = (process) => READERS + process;

/** @param {string} topic @returns {string | null} the process whose announcement is on this topic; null: it has no announcement */
export const readerOf = (topic) => (topic.startsWith(READERS) ? topic.slice(READERS.length) : null);

/** @param {string} topic or filter */
export const isStatsTopic = (topic) => topic.startsWith(STATS);

/** Number of levels in `iot/live/{device}`. */
export const FIRST_FURTHER_LEVEL = 3;

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a topic is one of `named-topics.js`. @param {string} topic */
export const isFurtherTopic = (topic) =>
  topic.startsWith(PREFIX) &&
  topic !== ALARMS &&
  !isStatsTopic(topic) &&
  readerOf(topic) === null &&
  !ID.test(liveDevice(topic));

/** @param {string} topic below `iot/live/` @returns {string} the device's id */
export const liveDevice = (topic) => topic.slice(PREFIX.length);

/**
 * Whether a filter may match a live topic. Only its first two levels are compared, so the answer may be true for a filter that
 * matches nothing.
 *
 * @param {string} filter
 */
export function reachesLive(filter) {
  const [first = '', second = '#'] = filter.split('/', 2);
  return first === '#' || (['+', 'iot'].includes(first) && ['+', '#', 'live'].includes(second));
}
