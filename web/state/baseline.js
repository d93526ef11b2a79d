/** @import { FleetSensor } from './fleet-types.js' */

/**
 * How far a value is from what its sensor usually measures: a running mean and spread for each sensor, weighted by time, which forget within
 * minutes. Pure arithmetic; nothing in here knows how it is drawn.
 *
 * @typedef {object} Range what one sensor usually measures; changed in place, so that ten thousand of them make no garbage
 * @property {number} mean
 * @property {number} variance
 * @property {number} seen values taken in
 * @property {number} at of the newest of them, epoch ms
 */

/** What was so long ago counts a third, in ms. */
const MEMORY_MS = 300_000;
/** Values before anything is said about one. */
const LEAST_SEEN = 5;
/** No single value counts more, however long the silence before it. */
const MOST_WEIGHT = 0.2;
/** A value further off than so many spreads counts as if it were so far: one wild value must not hide the next. */
const FARTHEST_COUNTED = 4;
/** As long as a sensor is new, its spread is its type's: that counts like so many values of its own. */
const BORROWED = 8;
/** A sensor quieter than all its kind is not called wild for what is nothing to its kind. */
const SHARE_OF_TYPE = 0.3;
/** What a number of this size resolves: a thousandth of a percent more or less says nothing. */
const RESOLUTION = 1e-4;
/** Further off is all the same. */
const FARTHEST = 99;

/** @returns {Range} */
export const createRange = () => ({ mean: 0, variance: 0, seen: 0, at: 0 });

/** @param {Range} range @returns {boolean} whether too little is known of it to judge a value */
export const isLearning = ({ seen }) => seen < LEAST_SEEN;

/**
 * @param {Range} range
 * @param {number} typical spread of all sensors of its type; 0 while that is not known
 * @returns {number} in the sensor's unit
 */
export function spreadOf({ mean, variance, seen }, typical) {
  const borrowed = typical > 0 ? BORROWED : 0;
  const shrunk = (seen * variance + borrowed * typical * typical) / (seen + borrowed || 1);
  return Math.max(Math.sqrt(shrunk), SHARE_OF_TYPE * typical, RESOLUTION * Math.abs(mean));
}

/**
 * @param {Range} range
 * @param {number} value
 * @param {number} typical
 * @returns {number} spreads above (or, negative, below) the mean; 0 while the range is being learned
 */
export function scoreOf(range, value, typical) {
  const off = value - range.mean;
  if (isLearning(range) || off === 0) return 0;
  const spread = spreadOf(range, typical);
  return spread > 0 ? Math.max(-FARTHEST, Math.min(FARTHEST, off / spread)) : Math.sign(off) * FARTHEST;
}

/**
 * Takes a value in. A step becomes the usual within some minutes, and so does a climb: nothing is called wild for ever.
 *
 * @param {Range} range
 * @param {number} at epoch ms
 * @param {number} value
 * @param {number} typical
 */
export function learn(range, at, value, typical) {
  const off = counted(range, value, typical);
  const weight = Math.max(
    1 / (range.seen + 1),
    Math.min(MOST_WEIGHT, 1 - Math.exp((range.at - at) / MEMORY_MS)),
  );
  range.mean += weight * off;
  range.variance = (1 - weight) * (range.variance + weight * off * off);
  range.seen += 1;
  range.at = at;
}

/** @param {Range} range @param {number} value @param {number} typical @returns {number} how far off it counts as */
function counted(range, value, typical) {
  const off = value - range.mean;
  if (isLearning(range)) return off;
  // Of a signal that never moved, nobody knows what is far.
  const most = FARTHEST_COUNTED * spreadOf(range, typical) || Math.abs(off) / 2;
  return Math.max(-most, Math.min(most, off));
}

/** Scores from which a colour is one step stronger. */
const STEPS = [1.4, 2.2, 3.2, 4.5, 7];

/** Steps on either side of the usual. */
export const LEVELS = STEPS.length;

/** From this score on a sensor stands out. */
export const FAR = 4.5;

/** @param {number} score @returns {number} -5 far below, 0 as usual, 5 far above */
export function levelOf(score) {
  const size = Math.abs(score);
  let level = 0;
  while (level < LEVELS && size >= Number(STEPS[level])) level += 1;
  return score < 0 ? -level : level;
}

/**
 * What the sensors of one type measure at this moment: where there is nothing yet to compare a sensor's value with but the others'.
 *
 * @typedef {{ middle: number, spread: number }} Kin
 */

/** Fewer of a type say nothing of one of them. */
const LEAST_KIN = 8;
/** Median absolute deviations in a standard deviation of a normal distribution. */
const MAD_TO_SPREAD = 1.4826;
/** Kin differ for many reasons: one is never called far off for it. */
const MOST_LEVEL = 3;

/**
 * Medians, so that a few wild ones do not move what is usual.
 *
 * @param {Iterable<{ type: string | null, value: number }>} sensors NaN: nothing measured yet
 * @returns {Map<string | null, Kin>} by type; types of few sensors, or of no spread, are left out
 */
export function measureKin(sensors) {
  /** @type {Map<string | null, number[]>} */
  const byType = new Map();
  for (const { type, value } of sensors) {
    if (Number.isNaN(value)) continue;
    const values = byType.get(type);
    if (values) values.push(value);
    else byType.set(type, [value]);
  }
  /** @type {Map<string | null, Kin>} */
  const kin = new Map();
  for (const [type, values] of byType) {
    if (type === null || values.length < LEAST_KIN) continue;
    const middle = median(values);
    const spread = MAD_TO_SPREAD * median(values.map((value) => Math.abs(value - middle)));
    if (spread > 0) kin.set(type, { middle, spread });
  }
  return kin;
}

/** @param {Kin} kin @param {number} value @returns {number} steps of colour below or above the usual */
export function kinLevel({ middle, spread }, value) {
  return Math.max(-MOST_LEVEL, Math.min(MOST_LEVEL, levelOf((value - middle) / spread)));
}

/** @param {number[]} values at least one @returns {number} */
function median(values) {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = Number(sorted[half]);
  return sorted.length % 2 === 1 ? upper : (Number(sorted[half - 1]) + upper) / 2;
}

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
