import { cellStateOf, findOutliers } from './outliers.js';

/** @import { LatestItem } from '../api/types.js' */
/** @import { Outliers } from './outliers.js' */

/**
 * @typedef {{ type?: string | null, site?: string | null }} Narrowing the part of a fleet that is too large to be kept as a whole
 */

/** The number of sensors that a browser keeps. The wall of a larger fleet shows this many, with a note. */
export const MOST_SENSORS = 20_000;

/**
 * All sensors of the fleet from the stream, each with its judgment.
 *
 * @param {{ limit?: number }} [options]
 */
export function createFleet({ limit = MOST_SENSORS } = {}) {
  const deviceIndex = createDeviceIndex();
  const { sensors, devices } = deviceIndex;
  /** @type {FleetSensor[]} */
  let dirty = [];
  let refused = 0;
  let isRead = false;
  /** The API's count of sensors. */
  let total = Number.POSITIVE_INFINITY;
  /** Whether it had as many since it was last narrowed. */
  let isComplete = false;
  /** @type {Narrowing} */
  let wanted = {};

  /** @param {FleetSensor} sensor */
  function touch(sensor) {
    sensor.cellState = cellStateOf(sensor);
    if (sensor.dirty) return;
    sensor.dirty = true;
    dirty.push(sensor);
  }

  /** @param {FleetSensor} sensor @param {string} ts @param {number} value */
  function measure(sensor, ts, value) {
    const at = Date.parse(ts);
    const gap = at - sensor.at;
    if (sensor.at > 0 && gap > 0) sensor.gapMs += (sensor.gapMs === 0 ? 1 : 0.2) * (gap - sensor.gapMs);
    sensor.ts = ts;
    sensor.at = at;
    sensor.value = value;
  }

  /** @param {FleetSensor} sensor @param {LatestItem} item @returns {boolean} whether it is judged otherwise than before */
  function judge(sensor, item) {
    if (item.ts === null || item.ts < sensor.ts) return false;
    const { sigmas, provisional } = sensor;
    sensor.sigmas = item.sigmas ?? null;
    sensor.provisional = item.provisional === true;
    return sigmas !== sensor.sigmas || provisional !== sensor.provisional;
  }

  return {
    sensors: /** @type {ReadonlyMap<string, FleetSensor>} */ (sensors),
    devices: /** @type {ReadonlyMap<string, FleetDevice>} */ (devices),

    structure: deviceIndex.structure,
    /** Notes that a snapshot is complete: from then on, every sensor that was sent is judged. */
    noteRead() {
      isRead = true;
    },
    /** @returns {boolean} whether the whole fleet was read, or as much as there is room for */
    isRead: () => isRead,
    /** @returns {number} how often the stream sent a sensor for which there was no room */
    refused: () => refused,

    /**
     * @param {string} key device_id/sensor_id
     * @param {LatestItem} item
     * @returns {FleetSensor | null} null: nothing is new
     */
    take(key, item) {
      let sensor = sensors.get(key);
      if (
        !sensor &&
        ((wanted.type && item.type !== wanted.type) || (wanted.site && item.site !== wanted.site))
      ) {
        return null;
      }
      if (!sensor && sensors.size >= limit) {
        refused += 1;
        return null;
      }
      const isNew = !sensor;
      sensor ??= deviceIndex.add(key, item);
      deviceIndex.label(sensor, item);
      const isJudgedAgain = judge(sensor, item);
      // ISO 8601 texts of one form and zone sort as times do.
      if (item.ts !== null && item.value !== null && item.ts > sensor.ts)
        measure(sensor, item.ts, item.value);
      // The later of two values for one instant counts.
      else if (item.ts === sensor.ts && item.value !== null && item.value !== sensor.value)
        sensor.value = item.value;
      else if (!isNew && !isJudgedAgain) return null;
      touch(sensor);
      return sensor;
    },

    /** @returns {FleetSensor[]} those that changed since the last call */
    drain() {
      const drained = dirty;
      dirty = [];
      for (const sensor of drained) sensor.dirty = false;
      return drained;
    },

    /** @param {ReadonlySet<string>} ids of devices that are offline */
    setOffline(ids) {
      for (const device of deviceIndex.setOffline(ids)) {
        for (const sensor of device.sensors) touch(sensor);
      }
    },

    /** @returns {boolean} whether only some sensors are taken in */
    isNarrow: () => Boolean(wanted.type || wanted.site),

    /** @param {number} count of sensors by the API's count */
    expect(count) {
      total = count;
    },

    /** @returns {boolean} whether it has all sensors: a list or a search needs no other source */
    holdsAll() {
      isComplete ||= sensors.size >= total;
      return isComplete && refused === 0 && !(wanted.type || wanted.site);
    },

    /** Forgets a device that was retired, with its sensors. @param {string} id */
    forget(id) {
      const device = deviceIndex.remove(id);
      if (device) dirty = dirty.filter((sensor) => sensor.device !== device);
    },

    /** Forgets all sensors: only these are wanted. @param {Narrowing} next */
    narrow(next) {
      wanted = next;
      total = Number.POSITIVE_INFINITY;
      isComplete = false;
      deviceIndex.clear();
      dirty = [];
      refused = 0;
      isRead = false;
    },

    /**
     * Finds silent sensors and outliers. Call it once a second.
     *
     * @param {number} now epoch ms
     * @returns {Outliers}
     */
    findOutliers(now) {
      return findOutliers({ sensors, devices }, now, touch);
    },
  };
}

/** @typedef {ReturnType<typeof createFleet>} Fleet */

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
 * @property {number | null} sigmas how unusual its value is; null: not judged. See outliers.js
 * @property {boolean} provisional it was judged by its last hours
 * @property {number} cellState of its cell on the wall; see outliers.js
 * @property {boolean} dirty it is among those to be drawn
 * @property {number} cell its number on the wall; -1: none
 */

/** The devices and sensors of the fleet with their names. */
function createDeviceIndex() {
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
  sigmas: null,
  provisional: false,
  cellState: 0,
  dirty: false,
  cell: -1,
});
