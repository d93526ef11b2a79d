import { MillraceError } from '../../../common/errors.js';
import { parseDevice, parseSensor } from '../parameters.js';

/** @import { Identity } from '../../../schema/ids.js' */

/** Devices and sensors that one reader may name. */
const MOST_NAMED = 2000;

/**
 * What a reader follows; nothing named: the whole fleet.
 *
 * @typedef {object} Subscription
 * @property {Map<string, Identity>} devices by id
 * @property {Map<string, { device: Identity, sensor: Identity }>} sensors
 *   by `device id/sensor id`
 * @property {boolean} everything
 */

/**
 * Reads `device=` and `sensor=DEVICE/SENSOR`, each any number of times, each part percent-encoded. A name may hold a
 * slash, so the raw query is split before it is decoded.
 *
 * @param {string} url of the request
 * @returns {Subscription}
 * @throws {MillraceError} `bad_parameter`, `bad_id`
 */
export function readSubscription(url) {
  /** @type {Subscription} */
  const subscription = { devices: new Map(), sensors: new Map(), everything: false };
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const parts = query.split('&').filter(Boolean);
  if (parts.length > MOST_NAMED) {
    throw new MillraceError(
      'bad_parameter',
      `Name ${MOST_NAMED} devices and sensors at most; or none, for the whole fleet.`,
    );
  }
  for (const part of parts) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const raw = equals < 0 ? '' : part.slice(equals + 1);
    if (name === 'device') addDevice(subscription, raw);
    else if (name === 'sensor') addSensor(subscription, raw);
    else throw new MillraceError('bad_parameter', `${name}: not known here`);
  }
  subscription.everything = subscription.devices.size === 0 && subscription.sensors.size === 0;
  return subscription;
}

/** @param {Subscription} subscription @param {string} raw */
function addDevice({ devices }, raw) {
  const device = parseDevice(decode(plain(raw)));
  devices.set(device.id, device);
}

/** @param {Subscription} subscription @param {string} raw */
function addSensor({ sensors }, raw) {
  // Form encoders encode the slash between the parts, too; then the parts are encoded twice, but spaces only once.
  const pair = raw.includes('/') ? plain(raw) : decode(plain(raw));
  const slash = pair.indexOf('/');
  if (slash < 0) throw new MillraceError('bad_parameter', 'sensor: DEVICE/SENSOR, each part percent-encoded');
  const device = parseDevice(decode(pair.slice(0, slash)));
  const sensor = parseSensor(device.id, decode(pair.slice(slash + 1)));
  sensors.set(`${device.id}/${sensor.id}`, { device, sensor });
}

/** A plus sign of a query is a space. @param {string} text */
const plain = (text) => text.replaceAll('+', '%20');

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new MillraceError('bad_parameter', `${text} is not valid percent-encoding`, { cause: error });
  }
}

/** @param {Subscription} subscription @param {{ device_id: string, sensor_id: string }} change */
export const follows = ({ everything, devices, sensors }, { device_id, sensor_id }) =>
  everything || devices.has(device_id) || sensors.has(`${device_id}/${sensor_id}`);
