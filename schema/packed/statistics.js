/**
 * @typedef {object} Statistics of some samples
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number} sum added from left to right; infinite where it overflows
 * @property {number} last the value of the newest sample
 */

/** @import { Numbers } from './series.js' */

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
