/** @import { FleetSensor } from './device-index.js' */

/**
 * How far a value is from what its sensor usually measures: a running mean and spread for each sensor, weighted by time, which forget within
 * minutes. Pure arithmetic; nothing in here knows how it is drawn.
 *
 * @typedef {object} Baseline what one sensor usually measures; changed in place, so that ten thousand of them make no garbage
 * @property {number} mean
 * @property {number} variance
 * @property {number} seen values taken in
 * @property {number} at of the newest of them, epoch ms
 */

/** Values of this age count a third, in ms. */
const MEMORY_MS = 300_000;
/** Values before anything is said about one. */
const LEAST_SEEN = 5;
/** No single value counts more, however long the silence before it. */
const MOST_WEIGHT = 0.2;
/** A value further off than so many spreads counts as if it were so far: one wild value must not hide the next. */
const FARTHEST_COUNTED = 4;
/** As long as a sensor is new, its spread is its type's: that counts like so many values of its own. */
const BORROWED = 8;
/** The least share of its type's spread. A quiet sensor is not an outlier for changes that are normal for its type. */
const SHARE_OF_TYPE = 0.3;
/** The relative resolution of a value. Smaller changes mean nothing. */
const RESOLUTION = 1e-4;
/** Further off is all the same. */
const FARTHEST = 99;

/** @returns {Baseline} */
export const createBaseline = () => ({ mean: 0, variance: 0, seen: 0, at: 0 });

/** @param {Baseline} baseline @returns {boolean} whether it has too few values for a comparison */
export const isLearning = ({ seen }) => seen < LEAST_SEEN;

/**
 * @param {Baseline} baseline
 * @param {number} typical spread of all sensors of its type; 0 while that is not known
 * @returns {number} in the sensor's unit
 */
export function spreadOf({ mean, variance, seen }, typical) {
  const borrowed = typical > 0 ? BORROWED : 0;
  const shrunk = (seen * variance + borrowed * typical * typical) / (seen + borrowed || 1);
  return Math.max(Math.sqrt(shrunk), SHARE_OF_TYPE * typical, RESOLUTION * Math.abs(mean));
}

/**
 * @param {Baseline} baseline
 * @param {number} value
 * @param {number} typical
 * @returns {number} spreads above (or, negative, below) the mean; 0 while the baseline is being learned
 */
export function scoreOf(baseline, value, typical) {
  const off = value - baseline.mean;
  if (isLearning(baseline) || off === 0) return 0;
  const spread = spreadOf(baseline, typical);
  return spread > 0 ? Math.max(-FARTHEST, Math.min(FARTHEST, off / spread)) : Math.sign(off) * FARTHEST;
}

/**
 * Takes a value in. A step becomes the usual within some minutes, and so does a climb: nothing is called wild for ever.
 *
 * @param {Baseline} baseline
 * @param {number} at epoch ms
 * @param {number} value
 * @param {number} typical
 */
export function learn(baseline, at, value, typical) {
  const off = counted(baseline, value, typical);
  const weight = Math.max(
    1 / (baseline.seen + 1),
    Math.min(MOST_WEIGHT, 1 - Math.exp((baseline.at - at) / MEMORY_MS)),
  );
  baseline.mean += weight * off;
  baseline.variance = (1 - weight) * (baseline.variance + weight * off * off);
  baseline.seen += 1;
  baseline.at = at;
}

/** @param {Baseline} baseline @param {number} value @param {number} typical @returns {number} how far off it counts as */
function counted(baseline, value, typical) {
  const off = value - baseline.mean;
  if (isLearning(baseline)) return off;
  // A constant signal has no spread to compare with.
  const limit = FARTHEST_COUNTED * spreadOf(baseline, typical) || Math.abs(off) / 2;
  return Math.max(-limit, Math.min(limit, off));
}

/** Scores from which a color is one step stronger. */
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
 * The current values of the sensors of one type. A sensor without a baseline is compared with them.
 *
 * @typedef {{ middle: number, spread: number }} Peers
 */

/** The fewest sensors of a type that make a comparison useful. */
const LEAST_PEERS = 8;
/** Median absolute deviations in a standard deviation of a normal distribution. */
const MAD_TO_SPREAD = 1.4826;
/** Peers differ for many reasons: one is never called far off for it. */
const MOST_LEVEL = 3;

/**
 * Medians, so that a few wild ones do not move what is usual.
 *
 * @param {Iterable<{ type: string | null, value: number }>} sensors NaN: nothing measured yet
 * @returns {Map<string | null, Peers>} by type; types of few sensors, or of no spread, are left out
 */
export function measurePeers(sensors) {
  /** @type {Map<string | null, number[]>} */
  const byType = new Map();
  for (const { type, value } of sensors) {
    if (Number.isNaN(value)) continue;
    const values = byType.get(type);
    if (values) values.push(value);
    else byType.set(type, [value]);
  }
  /** @type {Map<string | null, Peers>} */
  const peers = new Map();
  for (const [type, values] of byType) {
    if (type === null || values.length < LEAST_PEERS) continue;
    const middle = median(values);
    const spread = MAD_TO_SPREAD * median(values.map((value) => Math.abs(value - middle)));
    if (spread > 0) peers.set(type, { middle, spread });
  }
  return peers;
}

/** @param {Peers} peers @param {number} value @returns {number} steps of color below or above the usual */
export function peerLevel({ middle, spread }, value) {
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
 * The baselines of all sensors. While a sensor's own baseline is being learned, it is compared with its peers.
 *
 * @param {ReadonlyMap<string, FleetSensor>} sensors of the fleet, as they come and go
 */
export function createBaselines(sensors) {
  /** Spread that sensors of a type have in the middle. @type {Map<string | null, number>} */
  const typical = new Map();
  /** Used while a sensor's own baseline is being learned. @type {ReturnType<typeof measurePeers>} */
  let peers = new Map();

  function poolSpreads() {
    /** @type {Map<string | null, { sum: number, count: number }>} */
    const pools = new Map();
    for (const { type, baseline } of sensors.values()) {
      if (isLearning(baseline)) continue;
      const pool = pools.get(type) ?? { sum: 0, count: 0 };
      pools.set(type, pool);
      pool.sum += Math.sqrt(baseline.variance);
      pool.count += 1;
    }
    typical.clear();
    for (const [type, { sum, count }] of pools) typical.set(type, sum / count);
  }

  return {
    /** @param {FleetSensor} sensor @returns {number | null} null: there is nothing yet to compare its value with */
    level({ baseline, score, type, value }) {
      if (!isLearning(baseline)) return levelOf(score);
      const others = peers.get(type);
      return others ? peerLevel(others, value) : null;
    },

    /** @param {FleetSensor} sensor @param {number} at epoch ms @param {number} value its newest, which is compared first, and then learned from */
    learn(sensor, at, value) {
      const spread = typical.get(sensor.type) ?? 0;
      sensor.score = scoreOf(sensor.baseline, value, spread);
      learn(sensor.baseline, at, value, spread);
    },

    /** @param {string | null} type @returns {number} spread that its sensors have in the middle; 0: not known */
    typical: (type) => typical.get(type) ?? 0,

    /** @param {FleetSensor} sensor @returns {number} its usual spread, in its unit */
    spread: ({ baseline, type }) => spreadOf(baseline, typical.get(type) ?? 0),

    /**
     * Updates the spread of each type and the peers.
     *
     * @returns {FleetSensor[]} those that are compared with their type
     */
    sumUp() {
      poolSpreads();
      const newcomers = [...sensors.values()].filter(({ baseline, at }) => at > 0 && isLearning(baseline));
      if (newcomers.length > 0) peers = measurePeers(sensors.values());
      return newcomers;
    },
  };
}

/** @typedef {ReturnType<typeof createBaselines>} Baselines */
