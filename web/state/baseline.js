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
