/** @import { Numbers } from './series.js' */

/**
 * The statistics of an hour in `history_stat`.
 *
 * @typedef {object} HourStatistics
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number} sum see `sumOf`
 * @property {number} first value of the oldest sample
 * @property {number} last value of the newest sample
 */

/**
 * @param {Numbers} values of all samples of an hour, in order of time; there is one at least
 * @returns {HourStatistics}
 */
export function hourStatisticsOf(values) {
  const { count, min, max, last } = statisticsOf(values, 0, values.length);
  return { count, min, max, sum: sumOf(values), first: /** @type {number} */ (values[0]), last };
}

/**
 * @typedef {object} Statistics of some samples
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number} sum added from left to right; infinite where it overflows
 * @property {number} last the value of the newest sample
 */

/**
 * Statistics of samples that are merged already: samples of rows that overlap would count twice.
 *
 * @param {Numbers} values in order of time
 * @param {number} from index of the first sample
 * @param {number} to index after the last one; there is one sample at least
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

/** With this scale, any sum of fewer than 2^64 doubles stays finite. A power of two loses no digit. */
const SCALE = 2 ** 64;

/**
 * The sum with compensation of its rounding errors (Neumaier). Its error does not grow with the number of values. A plain sum of large
 * values of both signs may have no right digit left.
 *
 * @param {Iterable<number>} values finite
 * @returns {number} infinite only where the sum itself is beyond a double, not where it was so on the way
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
    // The smaller of the two numbers lost digits.
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}
