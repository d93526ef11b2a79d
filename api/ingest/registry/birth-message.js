import { MillraceError } from '../../../common/errors.js';
import { identifySensor, isName } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { parseJson } from '../formats/json.js';
import { sessionStart } from './sessions.js';

/**
 * What a device says of one of its sensors.
 *
 * @typedef {{ index: number, identity: import('../../../schema/ids.js').Identity, name?: string, type?: string, unit?: string, intervalMs?: number }} SensorBirth
 */

/**
 * @typedef {object} Birth
 * @property {number} session epoch ms
 * @property {string} [name]
 * @property {string} [site]
 * @property {SensorBirth[]} sensors
 * @property {import('../../store/dead-letters/writes.js').Refusals} refused elements of `sensors` that are not usable
 */

/**
 * @param {Buffer} payload `{"session", "name", "site", "sensors": [{sensor_id, name, type, unit, interval_ms}]}`
 * @param {import('../../../schema/ids.js').Identity} device
 * @param {number} receivedAt epoch ms
 * @returns {Birth}
 * @throws {MillraceError} `malformed`, `bad_id`, `registration_limit` for the birth as a whole
 */
export function readBirth(payload, device, receivedAt) {
  const { session, name, site, sensors = [] } = parse(payload);
  if (!Array.isArray(sensors)) throw new MillraceError('malformed', 'sensors is an array');
  if (sensors.length > MAX_SENSORS_PER_DEVICE) throw new MillraceError('registration_limit');
  /** @type {Birth} */
  const birth = {
    session: sessionStart(session, receivedAt),
    name: optionalName(name) ?? device.name ?? undefined,
    site: optionalName(site),
    sensors: [],
    refused: [],
  };
  const seen = new Set();
  for (const [index, element] of sensors.entries()) {
    const sensor = readSensor(device.id, index, element);
    if (typeof sensor === 'string') birth.refused.push({ index, code: sensor });
    else if (!seen.has(sensor.identity.id)) birth.sensors.push(sensor);
    if (typeof sensor !== 'string') seen.add(sensor.identity.id);
  }
  return birth;
}

/** @param {Buffer} payload @returns {Record<string, unknown>} */
function parse(payload) {
  const content = parseJson(payload);
  if (Array.isArray(content)) throw new MillraceError('malformed', 'a birth is one object');
  return /** @type {Record<string, unknown>} */ (content);
}

/** @param {unknown} text @returns {string | undefined} @throws {MillraceError} `bad_id` */
function optionalName(text) {
  if (text === undefined || text === null) return undefined;
  if (isName(text)) return text;
  throw new MillraceError('bad_id', 'names and sites are texts of 1 to 128 bytes without control characters');
}

/**
 * @param {string} deviceId
 * @param {number} index of the element in `sensors`
 * @param {unknown} element
 * @returns {SensorBirth | 'malformed' | 'bad_id'}
 */
function readSensor(deviceId, index, element) {
  if (element === null || typeof element !== 'object') return 'malformed';
  const { sensor_id, name, type, unit, interval_ms } = /** @type {Record<string, unknown>} */ (element);
  const identity = identifySensor(deviceId, sensor_id ?? name);
  if (!identity) return 'bad_id';
  const texts = [name, type, unit].filter((text) => text !== undefined && text !== null);
  if (!texts.every(isName)) return 'bad_id';
  const interval = interval_ms ?? undefined;
  if (interval !== undefined && !isInterval(interval)) return 'malformed';
  return {
    index,
    identity,
    name: /** @type {string | undefined} */ (name ?? identity.name ?? undefined),
    type: /** @type {string | undefined} */ (type ?? undefined),
    unit: /** @type {string | undefined} */ (unit ?? undefined),
    intervalMs: interval,
  };
}

/** @param {unknown} interval ms; it is stored as a 32-bit integer @returns {interval is number} */
const isInterval = (interval) =>
  typeof interval === 'number' && Number.isInteger(interval) && interval > 0 && interval < 2 ** 31;
