import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';
import { createRandom } from '../../../simulator/random.js';
import { createDrift, rounded } from '../../../simulator/signals/components.js';

/** @import { RegistryStore } from '../../../api/store/registry/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */

/** Number of digits of the number in a device name. With leading zeros, names sort in the order of the numbers. */
const DEVICE_DIGITS = 6;
const SENSOR_DIGITS = 3;

/** Attributes of all sensors and devices, so that queries by type and by site find them. */
const TYPE = 'temperature';
const UNIT = 'Cel';
const SITE = 'load';

/**
 * @typedef {object} LoadedSensor
 * @property {string} name
 * @property {Buffer} bytes the 16 bytes of the id
 */

/**
 * @typedef {object} LoadedDevice
 * @property {string} name
 * @property {string} id
 * @property {Buffer} bytes the 16 bytes of the id
 * @property {number} group
 * @property {LoadedSensor[]} sensors
 */

/**
 * Returns the devices of a data set. Their names contain the seed, so two data sets with different seeds have no device in
 * common.
 *
 * @param {{ seed: number, devices: number, sensors: number, groups: number }} options `sensors`: number of sensors of each device; `groups`: LATEST_GROUPS
 * @returns {LoadedDevice[]}
 */
export const fleetOf = ({ seed, devices, sensors, groups }) =>
  Array.from({ length: devices }, (_, number) => {
    const name = `load-${seed}-${String(number).padStart(DEVICE_DIGITS, '0')}`;
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(name));
    return {
      name,
      id,
      bytes,
      group: groupOf(bytes, groups),
      sensors: Array.from({ length: sensors }, (_, index) => loadedSensor(id, index)),
    };
  });

/** @param {string} deviceId @param {number} index @returns {LoadedSensor} */
function loadedSensor(deviceId, index) {
  const name = `sensor-${String(index).padStart(SENSOR_DIGITS, '0')}`;
  const { bytes } = /** @type {Identity} */ (identifySensor(deviceId, name));
  return { name, bytes };
}

/**
 * Registers a device, as a birth message does.
 *
 * @param {RegistryStore} registry
 * @param {LoadedDevice} device
 * @param {{ now: number, intervalMs: number }} options `now`: epoch ms
 */
export async function register(registry, { name, bytes, group, sensors }, { now, intervalMs }) {
  const key = { group, bytes };
  const stamp = now * 1000;
  await registry.writeDevice(key, { name, site: SITE, registeredAt: now }, stamp);
  const changes = sensors.map((sensor) => ({
    bytes: sensor.bytes,
    deviceName: name,
    name: sensor.name,
    type: TYPE,
    unit: UNIT,
    site: SITE,
    intervalMs,
    registeredAt: now,
    writeTimestamp: stamp,
  }));
  const { indexes, sensors: rows } = registry.sensorWrites(key, changes, now);
  for (const write of [...indexes, ...rows]) await registry.commit(write);
}

/** The simulated temperature in °C: mean, daily variation, drift within ten minutes, and noise of the instrument. */
const MIDDLE = 21;
const DAILY = 3;
const DRIFT = { memoryMs: 600_000, deviation: 0.08 };
const NOISE = 0.02;

/** Number of decimals of a `decimals` signal. */
const DIGITS = 2;

/**
 * - `decimals`: values with two decimals, as instruments send them
 * - `full`: values with all digits of a double
 *
 * @typedef {'decimals' | 'full'} SignalKind
 */

export const SIGNALS = /** @type {const} */ (['decimals', 'full']);

/**
 * @typedef {object} Recipe
 * @property {number} seed
 * @property {SignalKind} signal
 * @property {number} intervalMs time between two samples, an hour at most
 * @property {number} jitterMs maximum deviation of a sample from its regular time
 */

/**
 * Generates the samples of one sensor in one hour. They depend only on the arguments, and not on other hours. So hours can be
 * generated in any order, and an hour has the same samples in every data set with these arguments.
 *
 * @param {Recipe} recipe
 * @param {{ device: string, sensor: string }} names
 * @param {number} hour epoch ms
 * @returns {{ times: Float64Array, values: Float64Array }} times in epoch ms, strictly ascending, all within the hour
 */
export function samplesOfHour({ seed, signal, intervalMs, jitterMs }, { device, sensor }, hour) {
  const fixed = createRandom(seed, device, sensor);
  const phase = fixed.uniform();
  // The offset is so far from both ends that the jitter moves no sample out of its interval.
  const offset = Math.floor(fixed.between(jitterMs, intervalMs - jitterMs));
  const random = createRandom(seed, device, sensor, String(hour));
  const drift = createDrift(random, intervalMs, DRIFT);
  const count = samplesPerHour(intervalMs);
  const times = new Float64Array(count);
  const values = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const stroke = hour + at * intervalMs + offset;
    times[at] = stroke + Math.floor(random.between(-jitterMs, jitterMs));
    const day = Math.sin(2 * Math.PI * (phase + (stroke % DAY_MS) / DAY_MS));
    const value = MIDDLE + DAILY * day + drift() + NOISE * random.normal();
    values[at] = signal === 'full' ? value : rounded(value, DIGITS);
  }
  return { times, values };
}

/** @param {number} intervalMs @returns {number} number of samples of one sensor in one hour */
export const samplesPerHour = (intervalMs) => Math.floor(HOUR_MS / intervalMs);
