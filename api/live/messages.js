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
 * @property {string | null} ts ISO 8601 in UTC, with milliseconds: such texts sort as their times do
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
 * Reads what came from the broker. Nobody else may publish there, but a broker without rights lets everybody.
 *
 * @param {string} device its id, by the topic
 * @param {Buffer} payload
 * @returns {LiveItem[] | null} null: not ours
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

/** @param {string} device @param {any} item */
const isItemOf = (device, item) =>
  item?.device_id === device &&
  typeof item.sensor_id === 'string' &&
  typeof item.ts === 'string' &&
  typeof item.value === 'number' &&
  [item.device, item.name, item.type, item.unit, item.site].every(isText);

const PREFIX = 'iot/live/';

/** What readers of the whole fleet subscribe to. */
export const EVERY_DEVICE = '+';

/** @param {string} device its id, or `EVERY_DEVICE` */
export const liveTopic = (device) => PREFIX + device;

const STATS = `${PREFIX}stats/`;

/** What those subscribe to who add up what all processes do. */
export const EVERY_PROCESS = `${STATS}+`;

/** @param {string} process its name @returns {string} of ASCII, whatever the name is */
export const statsTopic = (process) => STATS + encodeURIComponent(process);

/** @param {string} topic below `iot/live/` @returns {string | null} the process of which it tells */
export function statsProcess(topic) {
  if (!topic.startsWith(STATS)) return null;
  try {
    return decodeURIComponent(topic.slice(STATS.length));
  } catch {
    // Not one of ours.
    return '';
  }
}

/** @param {string} topic below `iot/live/` @returns {string} the device's id */
export const liveDevice = (topic) => topic.slice(PREFIX.length);

/**
 * Whether a filter may match what is published here: by its first two levels, which is enough for nobody to be missed.
 *
 * @param {string} filter
 */
export function reachesLive(filter) {
  const [first = '', second = '#'] = filter.split('/', 2);
  return first === '#' || (['+', 'iot'].includes(first) && ['+', '#', 'live'].includes(second));
}
