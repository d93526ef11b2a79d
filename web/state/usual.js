import { isLearning, learn, levelOf, scoreOf, spreadOf } from './baseline.js';
import { kinLevel, measureKin } from './peers.js';

/** @import { FleetSensor } from './fleet-types.js' */

/**
 * What is usual for each sensor, and as long as that is being learned, for others of its type.
 *
 * @param {ReadonlyMap<string, FleetSensor>} sensors of the fleet, as they come and go
 */
export function createUsual(sensors) {
  /** Spread that sensors of a type have in the middle. @type {Map<string | null, number>} */
  const typical = new Map();
  /** What sensors are compared with while their own ranges are being learned. @type {ReturnType<typeof measureKin>} */
  let kin = new Map();

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

  return {
    /** @param {FleetSensor} sensor @returns {number | null} null: there is nothing yet to compare its value with */
    level({ range, score, type, value }) {
      if (!isLearning(range)) return levelOf(score);
      const others = kin.get(type);
      return others ? kinLevel(others, value) : null;
    },

    /** @param {FleetSensor} sensor @param {number} at epoch ms @param {number} value its newest, which is compared first, and then learned from */
    learn(sensor, at, value) {
      const spread = typical.get(sensor.type) ?? 0;
      sensor.score = scoreOf(sensor.range, value, spread);
      learn(sensor.range, at, value, spread);
    },

    /** @param {string | null} type @returns {number} spread that its sensors have in the middle; 0: not known */
    typical: (type) => typical.get(type) ?? 0,

    /** @param {FleetSensor} sensor @returns {number} its usual spread, in its unit */
    spread: ({ range, type }) => spreadOf(range, typical.get(type) ?? 0),

    /**
     * Sums up anew what is usual for each type.
     *
     * @returns {FleetSensor[]} those that are compared with their type
     */
    sumUp() {
      poolSpreads();
      const newcomers = [...sensors.values()].filter(({ range, at }) => at > 0 && isLearning(range));
      if (newcomers.length > 0) kin = measureKin(sensors.values());
      return newcomers;
    },
  };
}

/** @typedef {ReturnType<typeof createUsual>} Usual */
