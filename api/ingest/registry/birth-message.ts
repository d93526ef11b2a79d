import { MillraceError } from '../../../common/errors.js';
import { brokenNameRule, identifySensor, isName } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { parseJson } from '../decode/json.js';
import { PATHS } from '../decode/refusals.js';
import { readSession } from './sessions.js';

/** @import { Refusal } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */
/** @import { PathOf } from '../decode/refusals.js' */
/** @import { DeviceSession } from './sessions.js' */

/**
 * One sensor in a birth.
 *
 * @typedef {{ index: number, identity: Identity, name?: string, type?: string, unit?: string, label?: string, intervalMs?: number }} SensorBirth
 */

/**
 * @typedef {object} Birth
 * @property {DeviceSession} session
 * @property {string} [name]
 * @property {string} [site]
 * @property {string} [label]
 * @property {SensorBirth[]} sensors
 * @property {PathOf} [pathOf] makes the paths of refused sensors; default: paths of elements of `sensors`
 * @property {Refusals} refused invalid elements of `sensors`
 */

/**
 * @param {Buffer} payload `{"session", "name", "site", "label", "sensors": [{sensor_id, name, type, unit, label, interval_ms}]}`
 * @param {Identity} device
 * @param {number} receivedAt epoch ms
 * @param {string} [contentType] may declare a charset
 * @returns {Birth}
 * @throws {MillraceError} `malformed`, `bad_id`, `registration_limit`: the whole birth is refused
 */
export function readBirth(payload, device, receivedAt, contentType) {
  const { session, name, site, label, sensors = [] } = parse(payload, contentType);
  if (!Array.isArray(sensors)) throw new MillraceError('malformed', 'must be an array', { path: 'sensors' });
  if (sensors.length > MAX_SENSORS_PER_DEVICE) {
    const rule = `must not have more than ${MAX_SENSORS_PER_DEVICE} elements`;
    throw new MillraceError('registration_limit', rule, { path: 'sensors' });
  }
  /** @type {Birth} */
  const birth = {
    session: readSession(session, receivedAt),
    name: optionalName('name', name) ?? device.name ?? undefined,
    site: optionalName('site', site),
    label: optionalName('label', label),
    sensors: [],
    refused: [],
  };
  const seen = new Set();
  for (const [index, element] of sensors.entries()) {
    const sensor = readSensor(device.id, index, element);
    if ('code' in sensor) {
      birth.refused.push(sensor);
      continue;
    }
    if (!seen.has(sensor.identity.id)) birth.sensors.push(sensor);
    seen.add(sensor.identity.id);
  }
  return birth;
}

/** @param {Buffer} payload @param {string} [contentType] @returns {Record<string, unknown>} */
function parse(payload, contentType) {
  const content = parseJson(payload, contentType);
  if (Array.isArray(content)) throw new MillraceError('malformed', 'must be one object');
  return /** @type {Record<string, unknown>} */ (content);
}

/** @param {string} path @param {unknown} text @returns {string | undefined} @throws {MillraceError} `bad_id` */
function optionalName(path, text) {
  if (text === undefined || text === null) return undefined;
  if (isName(text)) return text;
  throw new MillraceError('bad_id', brokenNameRule(text), { path });
}

/**
 * @param {Buffer} payload `{"type", "unit", "label", "interval_ms"}`, the description of one sensor
 * @param {string} deviceId
 * @param {string} sensor id or name
 * @returns {SensorBirth} the description, without a name
 * @throws {MillraceError} `malformed`, `bad_id`
 */
export function readDescription(payload, deviceId, sensor) {
  const { type, unit, label, interval_ms } = parse(payload);
  const read = readSensor(deviceId, 0, { sensor_id: sensor, type, unit, label, interval_ms }, PATHS.object);
  if ('code' in read) throw new MillraceError(read.code, read.rule, { path: read.path });
  return { ...read, name: undefined };
}

/**
 * @param {string} deviceId
 * @param {number} index of the element in `sensors`
 * @param {unknown} element
 * @param {PathOf} [pathOf]
 * @returns {SensorBirth | Refusal}
 */
function readSensor(deviceId, index, element, pathOf = PATHS.birth) {
  /** @param {'malformed' | 'bad_id'} code @param {string | undefined} field @param {string} rule @returns {Refusal} */
  const refusal = (code, field, rule) => ({ index, code, path: pathOf(index, field), rule });
  if (element === null || typeof element !== 'object')
    return refusal('malformed', undefined, 'must be an object');
  const { sensor_id, name, type, unit, label, interval_ms } = /** @type {Record<string, unknown>} */ (
    element
  );
  const identity = identifySensor(deviceId, sensor_id ?? name);
  if (!identity) return refusal('bad_id', ...brokenId(sensor_id, name));
  for (const [field, text] of Object.entries({ name, type, unit, label })) {
    if (!isGiven(text) || isName(text)) continue;
    return refusal('bad_id', field, brokenNameRule(text));
  }
  const interval = interval_ms ?? undefined;
  if (interval !== undefined && !isInterval(interval)) {
    return refusal('malformed', 'interval_ms', INTERVAL_RULE);
  }
  return {
    index,
    identity,
    name: /** @type {string | undefined} */ (name ?? identity.name ?? undefined),
    type: /** @type {string | undefined} */ (type ?? undefined),
    unit: /** @type {string | undefined} */ (unit ?? undefined),
    label: /** @type {string | undefined} */ (label ?? undefined),
    intervalMs: interval,
  };
}

/** @param {unknown} value */
const isGiven = (value) => value !== undefined && value !== null;

/** @param {unknown} sensorId @param {unknown} name @returns {[field: string, rule: string]} why id and name identify no sensor */
function brokenId(sensorId, name) {
  if (isGiven(sensorId)) return ['sensor_id', brokenNameRule(sensorId)];
  return isGiven(name) ? ['name', brokenNameRule(name)] : ['sensor_id', 'is missing'];
}

const INTERVAL_RULE = `must be a whole number of ms from 1 to ${2 ** 31 - 1}`;

/** @param {unknown} interval ms, stored as a 32-bit integer @returns {interval is number} */
const isInterval = (interval) =>
  typeof interval === 'number' && Number.isInteger(interval) && interval > 0 && interval < 2 ** 31;
