import { createBaselines } from './baseline.js';
import { cellStateOf, SILENT } from './cell-state.js';
import { createDeviceIndex } from './device-index.js';
import { findOutliers } from './outliers.js';

/** @import { LatestItem } from '../api/types.js' */
/** @import { FleetDevice, FleetSensor } from './device-index.js' */
/** @import { Outliers } from './outliers.js' */

/**
 * @typedef {{ type?: string | null, site?: string | null }} Narrowing the part of a fleet that is too large to be kept as a whole
 */

/** The number of sensors that a browser keeps. The wall of a larger fleet shows this many, with a note. */
export const MOST_SENSORS = 20_000;

/**
 * All sensors of the fleet from the stream, each with its baseline.
 *
 * @param {{ limit?: number }} [options]
 */
export function createFleet({ limit = MOST_SENSORS } = {}) {
  const deviceIndex = createDeviceIndex();
  const { sensors, devices } = deviceIndex;
  const baselines = createBaselines(sensors);
  /** @type {FleetSensor[]} */
  let dirty = [];
  let refused = 0;
  /** @type {Narrowing} */
  let wanted = {};

  /** @param {FleetSensor} sensor */
  function touch(sensor) {
    sensor.cellState = cellStateOf(sensor, baselines.level(sensor));
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
    baselines.learn(sensor, at, value);
  }

  function compareNewcomers() {
    for (const sensor of baselines.sumUp()) {
      if (sensor.cellState !== SILENT && sensor.cellState !== cellStateOf(sensor, baselines.level(sensor)))
        touch(sensor);
    }
  }

  return {
    sensors: /** @type {ReadonlyMap<string, FleetSensor>} */ (sensors),
    devices: /** @type {ReadonlyMap<string, FleetDevice>} */ (devices),

    structure: deviceIndex.structure,
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
      // ISO 8601 texts of one form and zone sort as times do.
      if (item.ts !== null && item.value !== null && item.ts > sensor.ts)
        measure(sensor, item.ts, item.value);
      // The later of two values for one instant counts.
      else if (item.ts === sensor.ts && item.value !== null && item.value !== sensor.value)
        sensor.value = item.value;
      else if (!isNew) return null;
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

    spread: baselines.spread,

    typical: baselines.typical,

    /** @returns {boolean} whether only some sensors are taken in */
    isNarrow: () => Boolean(wanted.type || wanted.site),

    /** Forgets a device that was retired, with its sensors. @param {string} id */
    forget(id) {
      const device = deviceIndex.remove(id);
      if (device) dirty = dirty.filter((sensor) => sensor.device !== device);
    },

    /** Forgets all sensors: only these are wanted. @param {Narrowing} next */
    narrow(next) {
      wanted = next;
      deviceIndex.clear();
      dirty = [];
      refused = 0;
    },

    /**
     * Finds silent sensors and outliers. Call it once a second.
     *
     * @param {number} now epoch ms
     * @returns {Outliers}
     */
    findOutliers(now) {
      compareNewcomers();
      return findOutliers({ sensors, devices }, now, touch);
    },
  };
}

/** @typedef {ReturnType<typeof createFleet>} Fleet */
