import { createBaseline } from './baseline.js';

/** @import { LatestItem } from '../api/types.js' */
/** @import { Baseline } from './baseline.js' */

/**
 * @typedef {object} FleetDevice
 * @property {string} id
 * @property {string} name its id where it has none
 * @property {string | null} site
 * @property {boolean} offline
 * @property {FleetSensor[]} sensors
 * @property {boolean} isInOrder its sensors stand in the order of their names
 *
 * @typedef {object} FleetSensor one record for as long as the page is open, changed in place: ten thousand values a second make no garbage
 * @property {string} key
 * @property {string} id
 * @property {FleetDevice} device
 * @property {string} name its id where it has none
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string} ts as the API writes it; empty before the first sample
 * @property {number} at the same, epoch ms; 0 before the first sample
 * @property {number} value NaN before the first sample
 * @property {number} gapMs between values, as seen; 0 while that is not known
 * @property {Baseline} baseline
 * @property {number} score how far off the value is, in spreads; see baseline.js
 * @property {number} cellState of its cell on the wall; see cell-state.js
 * @property {boolean} dirty it is among those to be drawn
 * @property {number} cell its number on the wall; -1: none
 */

/** The devices and sensors of the fleet with their names. */
export function createDeviceIndex() {
  /** @type {Map<string, FleetSensor>} */
  const sensors = new Map();
  /** @type {Map<string, FleetDevice>} */
  const devices = new Map();
  let structure = 0;
  /** @type {ReadonlySet<string>} */
  let offline = new Set();

  /** @param {LatestItem} item */
  function deviceOf({ device_id: id, device, site }) {
    const name = device ?? id;
    const known = devices.get(id);
    if (!known) {
      const added = { id, name, site, offline: offline.has(id), sensors: [], isInOrder: false };
      devices.set(id, added);
      return added;
    }
    if (known.name !== name || known.site !== site) {
      known.name = name;
      known.site = site;
      structure += 1;
    }
    return known;
  }

  return {
    sensors,
    devices,

    /** @returns {number} another one means that sensors came, went or were renamed */
    structure: () => structure,

    /** @param {string} key @param {LatestItem} item @returns {FleetSensor} it has measured nothing yet */
    add(key, item) {
      const device = deviceOf(item);
      const sensor = newSensor(key, device, item);
      device.sensors.push(sensor);
      device.isInOrder = false;
      sensors.set(key, sensor);
      structure += 1;
      return sensor;
    },

    /** Calls it, and its device, what they are called now. @param {FleetSensor} sensor @param {LatestItem} item */
    label(sensor, item) {
      deviceOf(item);
      const name = item.name ?? item.sensor_id;
      if (sensor.name === name && sensor.type === item.type && sensor.unit === item.unit) return;
      sensor.name = name;
      sensor.type = item.type;
      sensor.unit = item.unit;
      sensor.device.isInOrder = false;
      structure += 1;
    },

    /** @param {ReadonlySet<string>} ids of devices that are offline @returns {FleetDevice[]} those that come or go by it */
    setOffline(ids) {
      offline = ids;
      const changed = [...devices.values()].filter((device) => device.offline !== ids.has(device.id));
      for (const device of changed) device.offline = ids.has(device.id);
      return changed;
    },

    /** @param {string} id @returns {FleetDevice | undefined} the device that is gone, with its sensors */
    remove(id) {
      const device = devices.get(id);
      if (!device) return undefined;
      for (const sensor of device.sensors) sensors.delete(sensor.key);
      devices.delete(id);
      structure += 1;
      return device;
    },

    clear() {
      sensors.clear();
      devices.clear();
      structure += 1;
    },
  };
}

/** @param {string} key @param {FleetDevice} device @param {LatestItem} item @returns {FleetSensor} */
const newSensor = (key, device, item) => ({
  key,
  id: item.sensor_id,
  device,
  name: item.name ?? item.sensor_id,
  type: item.type,
  unit: item.unit,
  ts: '',
  at: 0,
  value: Number.NaN,
  gapMs: 0,
  baseline: createBaseline(),
  score: 0,
  cellState: 0,
  dirty: false,
  cell: -1,
});
