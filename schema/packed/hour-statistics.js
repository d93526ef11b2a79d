import { statisticsOf } from './statistics.js';
import { sumOf } from './sum.js';

/** @import { Numbers } from './series.js' */

/**
 * What `history_stat` keeps of an hour.
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
