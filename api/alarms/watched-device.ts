import { uuidBytes } from '../../schema/ids.js';
import { covers, newestOf } from './rules/rule.js';
import { WatchedSensor } from './watched-sensor.js';

/** @import { Fleet } from '../store/devices/index.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { Rule } from './rules/rule.js' */

/**
 * A device with the sensors that an absence rule covers.
 *
 * @typedef {object} WatchedDevice
 * @property {string} id
 * @property {Buffer} bytes
 * @property {Map<string, WatchedSensor>} sensors by sensor id
 * @property {number} dueAt epoch ms at which the first of these sensors may be absent
 */

/**
 * Reads the devices of a group that absence rules cover, with their newest samples.
 *
 * @param {Pick<Fleet, 'latestOfGroup'>} fleet
 * @param {object} options
 * @param {number} options.group
 * @param {Rule[]} options.rules absence rules
 * @param {number} options.unsentFrom epoch ms: a sensor without a sample counts if it was registered, or the rule began, at this time or
 *   later
 * @param {Map<string, WatchedDevice>} [options.before] the devices as they were read before
 * @param {boolean} [options.isResumed] whether this process did not watch the group after it read `before`
 * @param {AbortSignal} [options.signal] ends the read early
 * @returns {Promise<Map<string, WatchedDevice>>} devices by id
 */
export async function readDevices(fleet, options) {
  /** @type {Map<string, WatchedDevice>} */
  const devices = new Map();
  for await (const rows of fleet.latestOfGroup(options.group)) {
    if (options.signal?.aborted) break;
    for (const row of rows) add(devices, row, options);
  }
  return devices;
}

/**
 * @param {Map<string, WatchedDevice>} devices
 * @param {LatestRow} row
 * @param {{ group: number, rules: Rule[], unsentFrom: number, before?: Map<string, WatchedDevice>, isResumed?: boolean }} options
 */
function add(devices, row, { group, rules, unsentFrom, before, isResumed }) {
  const registeredAt = Number(row.registeredAt);
  const own = rules.filter((rule) => {
    const version = newestOf(rule);
    const counts = row.ts !== null || Math.max(registeredAt, version.since) >= unsentFrom;
    return counts && covers(version, row.deviceId, row);
  });
  if (own.length === 0) return;
  const { deviceId: id } = row;
  const bytes = uuidBytes(id);
  const known = before?.get(id)?.sensors.get(row.id);
  const device = devices.get(id) ?? { id, bytes, sensors: new Map(), dueAt: 0 };
  const subject = {
    device: { id, bytes, group, name: row.deviceName },
    sensor: { ...row, bytes: uuidBytes(row.id), registeredAt },
  };
  device.sensors.set(row.id, new WatchedSensor(subject, own, row.ts, known, isResumed));
  devices.set(id, device);
}
