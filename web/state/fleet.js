import { createRange, FAR, isLearning, learn, levelOf, scoreOf, spreadOf } from '../wall/deviation.js';
import { kinLevel, measureKin } from '../wall/kin.js';
import { lookOf, OFFLINE, SILENT } from '../wall/looks.js';

/**
 * @typedef {import('../api/types.js').LatestItem} LatestItem
 *
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
 * @property {import('../wall/deviation.js').Range} range
 * @property {number} score how far off the value is, in spreads; see deviation.js
 * @property {number} look which of the looks of looks.js its cell has
 * @property {boolean} dirty it is among those to be drawn
 * @property {number} cell its number on the wall; -1: none
 *
 * @typedef {{ type?: string | null, site?: string | null }} Narrowing of a fleet that is too large to be held
 *
 * @typedef {object} Review what there is to say of the fleet as a whole
 * @property {FleetSensor[]} far those that stand out, the furthest first
 * @property {FleetSensor[]} silent those that are silent while their device is there, the longest first
 * @property {FleetDevice[]} offline devices
 * @property {number} farCount
 * @property {number} silentCount
 * @property {number} learning
 * @property {number} offlineSensors
 */

/** A sensor silent for so long is silent, or for several of its intervals if that is longer. */
const SILENT_MS = 300_000;
const SILENT_INTERVALS = 5;
/** Entries of the lists of a review. */
const LISTED = 50;
/** More than a browser should hold: beyond, the wall shows these, and says so. */
export const MOST_SENSORS = 20_000;

/**
 * All sensors of the fleet, as the stream tells of them, with what each of them usually measures.
 *
 * @param {{ most?: number }} [options]
 */
export function createFleet({ most = MOST_SENSORS } = {}) {
  /** @type {Map<string, FleetSensor>} */
  const sensors = new Map();
  /** @type {Map<string, FleetDevice>} */
  const devices = new Map();
  /** Spread that sensors of a type have in the middle. @type {Map<string | null, number>} */
  const typical = new Map();
  /** What sensors are compared with while their own ranges are being learned. @type {ReturnType<typeof measureKin>} */
  let kin = new Map();
  /** @type {FleetSensor[]} */
  let dirty = [];
  let structure = 0;
  let refused = 0;
  /** @type {Narrowing} */
  let wanted = {};
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

  /** @param {string} key @param {LatestItem} item */
  function add(key, item) {
    const device = deviceOf(item);
    /** @type {FleetSensor} */
    const sensor = {
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
      range: createRange(),
      score: 0,
      look: 0,
      dirty: false,
      cell: -1,
    };
    device.sensors.push(sensor);
    device.isInOrder = false;
    sensors.set(key, sensor);
    structure += 1;
    return sensor;
  }

  /** @param {FleetSensor} sensor @param {LatestItem} item */
  function label(sensor, item) {
    deviceOf(item);
    const name = item.name ?? item.sensor_id;
    if (sensor.name === name && sensor.type === item.type && sensor.unit === item.unit) return;
    sensor.name = name;
    sensor.type = item.type;
    sensor.unit = item.unit;
    sensor.device.isInOrder = false;
    structure += 1;
  }

  /** @param {FleetSensor} sensor @returns {number | null} null: there is nothing yet to compare its value with */
  function level({ range, score, type, value }) {
    if (!isLearning(range)) return levelOf(score);
    const others = kin.get(type);
    return others ? kinLevel(others, value) : null;
  }

  /** @param {FleetSensor} sensor */
  function touch(sensor) {
    sensor.look = lookOf(sensor, level(sensor));
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
    const spread = typical.get(sensor.type) ?? 0;
    sensor.score = scoreOf(sensor.range, value, spread);
    learn(sensor.range, at, value, spread);
  }

  /** @param {number} now epoch ms @param {FleetSensor} sensor @returns {boolean} */
  const isSilent = (now, { at, gapMs }) => at > 0 && now - at > Math.max(SILENT_MS, SILENT_INTERVALS * gapMs);

  function poolSpreads() {
    /** @type {Map<string | null, { sum: number, count: number }>} */
    const pools = new Map();
    for (const { type, range } of sensors.values()) {
      if (isLearning(range)) continue;
      const pool = pools.get(type) ?? { sum: 0, count: 0 };
      pools.set(type, pool);
      pool.sum += Math.sqrt(range.variance);
      pool.count += 1;
    }
    typical.clear();
    for (const [type, { sum, count }] of pools) typical.set(type, sum / count);
  }

  function compareNewcomers() {
    const newcomers = [...sensors.values()].filter(({ range, at }) => at > 0 && isLearning(range));
    if (newcomers.length === 0) return;
    kin = measureKin(sensors.values());
    for (const sensor of newcomers) {
      if (sensor.look !== SILENT && sensor.look !== lookOf(sensor, level(sensor))) touch(sensor);
    }
  }

  return {
    sensors: /** @type {ReadonlyMap<string, FleetSensor>} */ (sensors),
    devices: /** @type {ReadonlyMap<string, FleetDevice>} */ (devices),

    /** @returns {number} another one means that sensors came or were renamed */
    structure: () => structure,
    /** @returns {number} how often a sensor was told of for which there was no room */
    refused: () => refused,

    /**
     * @param {string} key device_id/sensor_id
     * @param {LatestItem} item
     * @returns {FleetSensor | null} null: it told nothing new
     */
    take(key, item) {
      let sensor = sensors.get(key);
      if (
        !sensor &&
        ((wanted.type && item.type !== wanted.type) || (wanted.site && item.site !== wanted.site))
      ) {
        return null;
      }
      if (!sensor && sensors.size >= most) {
        refused += 1;
        return null;
      }
      const isNew = !sensor;
      sensor ??= add(key, item);
      label(sensor, item);
      // ISO 8601 texts of one form and zone sort as times do.
      if (item.ts !== null && item.value !== null && item.ts > sensor.ts)
        measure(sensor, item.ts, item.value);
      // Of two values for one instant the later word counts.
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
      offline = ids;
      for (const device of devices.values()) {
        if (device.offline === ids.has(device.id)) continue;
        device.offline = ids.has(device.id);
        for (const sensor of device.sensors) touch(sensor);
      }
    },

    /** @param {FleetSensor} sensor @returns {number} its usual spread, in its unit */
    spread: ({ range, type }) => spreadOf(range, typical.get(type) ?? 0),

    /** @param {string | null} type @returns {number} spread that its sensors have in the middle; 0: not known */
    typical: (type) => typical.get(type) ?? 0,

    /** @returns {boolean} whether only some sensors are taken in */
    isNarrow: () => Boolean(wanted.type || wanted.site),

    /** Forgets a device that was retired, with its sensors. @param {string} id */
    forget(id) {
      const device = devices.get(id);
      if (!device) return;
      for (const sensor of device.sensors) sensors.delete(sensor.key);
      devices.delete(id);
      dirty = dirty.filter((sensor) => sensor.device !== device);
      structure += 1;
    },

    /** Forgets all sensors: only these are wanted. @param {Narrowing} next */
    narrow(next) {
      wanted = next;
      sensors.clear();
      devices.clear();
      dirty = [];
      refused = 0;
      structure += 1;
    },

    /**
     * To be called once a second: finds what went silent, and says what stands out.
     *
     * @param {number} now epoch ms
     * @returns {Review}
     */
    review(now) {
      poolSpreads();
      compareNewcomers();
      /** @type {Review} */
      const review = {
        far: [],
        silent: [],
        offline: [],
        farCount: 0,
        silentCount: 0,
        learning: 0,
        offlineSensors: 0,
      };
      for (const device of devices.values()) {
        if (device.offline) review.offline.push(device);
      }
      for (const sensor of sensors.values()) {
        const silent = isSilent(now, sensor);
        if (silent !== (sensor.look === SILENT) && sensor.look !== OFFLINE) {
          touch(sensor);
          if (silent) sensor.look = SILENT;
        }
        if (sensor.look === OFFLINE) review.offlineSensors += 1;
        else if (silent) review.silent.push(sensor);
        else if (Math.abs(sensor.score) >= FAR) review.far.push(sensor);
        else if (isLearning(sensor.range)) review.learning += 1;
      }
      review.farCount = review.far.length;
      review.silentCount = review.silent.length;
      review.far = review.far.sort((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, LISTED);
      review.silent = review.silent.sort((a, b) => a.at - b.at).slice(0, LISTED);
      return review;
    },
  };
}

/** @typedef {ReturnType<typeof createFleet>} Fleet */
