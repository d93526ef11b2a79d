import { decimalsOf, usualDecimals } from '../format.js';

/** @import { LatestItem } from '../api/types.js' */

/**
 * @typedef {object} Seen what the dashboard knows of one sensor
 * @property {LatestItem} item
 * @property {{ ts: number, value: number }[]} recent values as they came, oldest first; `ts` in epoch ms
 */

/** Values of one sensor: enough for a sparkline of 64 px. */
const VALUES_KEPT = 60;
/** Sensors: some pages of the table, so that going back finds the sparklines again; then memory stays flat. */
const SENSORS_KEPT = 2000;

/** Newest values by sensor, with a short tail of those before. */
export function createRecentValues() {
  /** @type {Map<string, Seen>} */
  const sensors = new Map();
  /** By type and unit: decimals of values seen, and the largest of them. @type {Map<string, { decimals: number, largest: number }>} */
  const kinds = new Map();

  /** @param {LatestItem} item */
  function learnDecimals({ type, unit, value }) {
    if (value === null || !Number.isFinite(value)) return;
    const key = `${type}\n${unit}`;
    const kind = kinds.get(key) ?? { decimals: 0, largest: 0 };
    kind.decimals = Math.max(kind.decimals, decimalsOf(value));
    kind.largest = Math.max(kind.largest, Math.abs(value));
    kinds.set(key, kind);
  }

  return {
    /** @param {string} key device_id/sensor_id @returns {Seen | undefined} */
    get: (key) => sensors.get(key),

    /**
     * @param {LatestItem} item
     * @returns {boolean} whether it is new: older and repeated values are not
     */
    take(item) {
      const key = `${item.device_id}/${item.sensor_id}`;
      const seen = sensors.get(key);
      learnDecimals(item);
      if (!seen) {
        sensors.set(key, { item, recent: tail([], item) });
        forgetOldest(sensors);
        return true;
      }
      if (!isNews(seen.item, item)) return false;
      // Taken out and put in again, it stands last among those to be forgotten.
      sensors.delete(key);
      sensors.set(key, { item, recent: tail(seen.recent, item) });
      return true;
    },

    /**
     * @param {string} key
     * @param {{ ts: number, value: number }[]} before oldest first
     * @returns {boolean} whether anything was new
     */
    takeBefore(key, before) {
      const seen = sensors.get(key);
      const oldest = seen?.recent[0]?.ts ?? Number.NEGATIVE_INFINITY;
      const older = before.filter(({ ts }) => ts < oldest);
      if (!seen || older.length === 0) return false;
      sensors.set(key, { ...seen, recent: [...older, ...seen.recent].slice(-VALUES_KEPT) });
      return true;
    },

    /** @param {LatestItem} item @returns {number} decimals that suit all values of its type: what the largest is worth, if the smallest has them */
    decimals({ type, unit }) {
      const { decimals = 0, largest = 0 } = kinds.get(`${type}\n${unit}`) ?? {};
      return Math.min(decimals, usualDecimals(largest));
    },
  };
}

/** @param {LatestItem} known @param {LatestItem} item */
function isNews(known, item) {
  if (item.ts === null) return known.ts === null && !sameLabels(known, item);
  // One format and one zone: ISO 8601 texts of the API sort as times do.
  if (known.ts === null || item.ts > known.ts) return true;
  return item.ts === known.ts && (item.value !== known.value || !sameLabels(known, item));
}

/** @param {LatestItem} a @param {LatestItem} b */
const sameLabels = (a, b) =>
  a.device === b.device && a.name === b.name && a.type === b.type && a.unit === b.unit && a.site === b.site;

/** @param {Seen['recent']} recent @param {LatestItem} item @returns {Seen['recent']} */
function tail(recent, { ts, value }) {
  if (ts === null || value === null) return recent;
  const at = Date.parse(ts);
  const before = recent.at(-1)?.ts === at ? recent.slice(0, -1) : recent;
  return [...before.slice(1 - VALUES_KEPT), { ts: at, value }];
}

/** @param {Map<string, Seen>} sensors */
function forgetOldest(sensors) {
  if (sensors.size <= SENSORS_KEPT) return;
  for (const key of sensors.keys()) {
    sensors.delete(key);
    return;
  }
}
