import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';

/** @import { RegistryStore } from '../../../api/store/registry/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */

/** Digits of a number in a name: so devices sort as they are counted. */
const DEVICE_DIGITS = 6;
const SENSOR_DIGITS = 3;

/** Attributes of all sensors and devices, so that pages by type and by site find them. */
const TYPE = 'temperature';
const UNIT = 'Cel';
const SITE = 'load';

/**
 * @typedef {object} LoadedSensor
 * @property {string} name
 * @property {Buffer} bytes the id's 16
 */

/**
 * @typedef {object} LoadedDevice
 * @property {string} name
 * @property {string} id
 * @property {Buffer} bytes the id's 16
 * @property {number} group
 * @property {LoadedSensor[]} sensors
 */

/**
 * The devices of a data set, named after its seed: two data sets side by side do not mix.
 *
 * @param {{ seed: number, devices: number, sensors: number, groups: number }} options `sensors`: of each; `groups`: LATEST_GROUPS
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
 * Registers a device as its birth would.
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
