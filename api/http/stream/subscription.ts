import { MillraceError } from '../../../common/errors.js';
import { parseDevice, parseSensor } from '../parameters.js';

/** @import { Identity } from '../../../schema/ids.js' */

/** Limit of devices and sensors that one subscription may name. A longer subscription is refused. */
const MAX_NAMES = 2000;

/**
 * The devices and sensors that a reader follows. A reader that names neither devices nor sensors follows the whole fleet.
 *
 * @typedef {object} Subscription
 * @property {Map<string, Identity>} devices devices by id
 * @property {Map<string, { device: Identity, sensor: Identity }>} sensors sensors by `device id/sensor id`
 * @property {boolean} everything whether the reader follows the whole fleet
 */

/**
 * Reads the query parameters `device=` and `sensor=DEVICE/SENSOR`, each any number of times. DEVICE and SENSOR are
 * percent-encoded separately. A name may contain a slash, so this function splits the raw query before it decodes the names.
 *
 * @param {string} url of the request
 * @returns {Subscription}
 * @throws {MillraceError} `bad_parameter`, `bad_id`
 */
export function readSubscription(url) {
  /** @type {Subscription} */
  const subscription = { devices: new Map(), sensors: new Map(), everything: false };
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const pairs = query.split('&').filter(Boolean);
  if (pairs.length > MAX_NAMES) {
    throw new MillraceError(
      'bad_parameter',
      `Name at most ${MAX_NAMES} devices and sensors. Name none to follow the whole fleet.`,
    );
  }
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const raw = equals < 0 ? '' : pair.slice(equals + 1);
    if (name === 'device') addDevice(subscription, raw);
    else if (name === 'sensor') addSensor(subscription, raw);
    else throw new MillraceError('bad_parameter', `${name}: unknown parameter`);
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
  // Form encoders also encode the slash between device and sensor. Then the names are encoded twice, but spaces only once.
  const pair = raw.includes('/') ? plain(raw) : decode(plain(raw));
  const slash = pair.indexOf('/');
  if (slash < 0) throw new MillraceError('bad_parameter', 'sensor: DEVICE/SENSOR, each part percent-encoded');
  const device = parseDevice(decode(pair.slice(0, slash)));
  const sensor = parseSensor(device.id, decode(pair.slice(slash + 1)));
  sensors.set(`${device.id}/${sensor.id}`, { device, sensor });
}

/** Replaces plus signs, because a plus sign in a query means a space. @param {string} text */
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
