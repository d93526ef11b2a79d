/** @import { Numbers } from './series.js' */

/**
 * The statistics of an hour in `history_stat`.
 *
 * @typedef {object} HourStatistics
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number} sum sum by `sumOf`, with compensated rounding errors
 * @property {number} first value of the oldest sample
 * @property {number} last value of the newest sample
 */

/**
 * @param {Numbers} values values of all samples of an hour, in order of time; at least one value
 * @returns {HourStatistics}
 */
export function hourStatisticsOf(values) {
  const { count, min, max, last } = statisticsOf(values, 0, values.length);
  return { count, min, max, sum: sumOf(values), first: /** @type {number} */ (values[0]), last };
}

/**
 * The statistics of some samples.
 *
 * @typedef {object} Statistics
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number} sum plain sum from left to right; infinite if it overflows
 * @property {number} last the value of the newest sample
 */

/**
 * Computes statistics of merged samples. Samples of overlapping rows must be merged before, or they would count twice.
 *
 * @param {Numbers} values in order of time
 * @param {number} from index of the first sample
 * @param {number} to index after the last sample, greater than `from`
 * @returns {Statistics}
 */
export function statisticsOf(values, from, to) {
  const last = /** @type {number} */ (values[to - 1]);
  let min = last;
  let max = last;
  let sum = 0;
  for (let i = from; i < to; i++) {
    const value = /** @type {number} */ (values[i]);
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  return { count: to - from, min, max, sum, last };
}

/** Values divided by this scale have a finite sum if there are fewer than 2^64 values. It is a power of two, so division loses no digit. */
const SCALE = 2 ** 64;

/**
 * Returns the sum of the values with compensated rounding errors (Neumaier). The error does not grow with the number of values. A plain
 * sum of large values of both signs may have no correct digit.
 *
 * @param {Iterable<number>} values finite
 * @returns {number} infinite only if the total is beyond the range of a double; an overflow of an intermediate sum does not matter
 */
export function sumOf(values) {
  const sum = compensated(values, 1);
  return Number.isFinite(sum) ? sum : compensated(values, 1 / SCALE) * SCALE;
}

/** @param {Iterable<number>} values @param {number} factor */
function compensated(values, factor) {
  let sum = 0;
  let lost = 0;
  for (const given of values) {
    const value = given * factor;
    const next = sum + value;
    // The addition lost low digits of the smaller number. They are added up separately.
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}
