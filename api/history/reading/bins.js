import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';

/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Range } from './hours.js' */

/**
 * One bin that has samples.
 *
 * @typedef {object} Point
 * @property {number} ts epoch ms of the bin's start: a whole multiple of the width, also where the range begins later
 * @property {number} min
 * @property {number} max
 * @property {number | null} avg null where the sum is too large for a double
 * @property {number} count
 */

/** Values of this size and beyond are added up divided by SCALE, so that a sum may pass the end of the doubles and come back. */
const LARGE = 2 ** 960;
const SCALE = 2 ** 64;

/**
 * What is known of each bin of a range, added up in any order.
 *
 * @param {Range} range epoch ms; what is outside does not count
 * @param {number} width ms
 */
export function createBins(range, width) {
  const first = Math.floor(range.from / width);
  const length = binsOf(range, width);
  const counts = new Float64Array(length);
  const mins = new Float64Array(length).fill(Number.POSITIVE_INFINITY);
  const maxs = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
  const sums = new Float64Array(length);
  const largeSums = new Float64Array(length);
  /** What rounding took from each of `sums` (Neumaier 1974). */
  const lost = new Float64Array(length);

  /** @param {number} bin @param {number} value a sample, or the sum of some */
  function add(bin, value) {
    if (!(value < LARGE && value > -LARGE)) {
      largeSums[bin] = /** @type {number} */ (largeSums[bin]) + value / SCALE;
      return;
    }
    const sum = /** @type {number} */ (sums[bin]);
    const next = sum + value;
    const rest = Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    lost[bin] = /** @type {number} */ (lost[bin]) + rest;
    sums[bin] = next;
  }

  /** @param {number} bin @param {number} count @param {number} min @param {number} max */
  function widen(bin, count, min, max) {
    counts[bin] = /** @type {number} */ (counts[bin]) + count;
    if (min < /** @type {number} */ (mins[bin])) mins[bin] = min;
    if (max > /** @type {number} */ (maxs[bin])) maxs[bin] = max;
  }

  /** @param {number} bin @returns {number | null} */
  function average(bin) {
    const small = /** @type {number} */ (sums[bin]) + /** @type {number} */ (lost[bin]);
    const sum = small + /** @type {number} */ (largeSums[bin]) * SCALE;
    return Number.isFinite(sum) ? sum / /** @type {number} */ (counts[bin]) : null;
  }

  return {
    /** @param {number} hour epoch ms, of an hour that lies in one bin @param {HourStatistics} statistics */
    addHour(hour, { count, min, max, sum }) {
      const bin = Math.floor(hour / width) - first;
      widen(bin, count, min, max);
      add(bin, sum);
    },

    /** @param {Series} series in order of time */
    addSamples({ times, values }) {
      for (let at = 0; at < times.length; ) {
        const ts = /** @type {number} */ (times[at]);
        if (ts >= range.to) return;
        if (ts < range.from) {
          at++;
          continue;
        }
        const bin = Math.floor(ts / width) - first;
        const end = Math.min((first + bin + 1) * width, range.to);
        let [count, min, max] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
        for (; at < times.length && /** @type {number} */ (times[at]) < end; at++, count++) {
          const value = /** @type {number} */ (values[at]);
          if (value < min) min = value;
          if (value > max) max = value;
          add(bin, value);
        }
        widen(bin, count, min, max);
      }
    },

    /** @returns {Point[]} in order of time; bins without samples are not among them */
    points() {
      /** @type {Point[]} */
      const points = [];
      for (const [bin, count] of counts.entries()) {
        if (count === 0) continue;
        const [min, max] = [/** @type {number} */ (mins[bin]), /** @type {number} */ (maxs[bin])];
        points.push({ ts: (first + bin) * width, min, max, avg: average(bin), count });
      }
      return points;
    },
  };
}

/** @typedef {ReturnType<typeof createBins>} Bins */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MONTH = 30 * DAY_MS;

/** Widths of bins, in ms; beyond, whole multiples of the last. */
export const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 30].map((days) => days * DAY_MS),
];

/**
 * The smallest width that gives few enough bins, which begin at whole multiples of it.
 *
 * @param {Range} range not empty
 * @param {number} points bins, at most
 * @returns {number} ms
 */
export function widthFor(range, points) {
  const width = WIDTHS.find((one) => binsOf(range, one) <= points);
  if (width !== undefined) return width;
  let months = 2;
  while (binsOf(range, months * MONTH) > points) months++;
  return months * MONTH;
}

/** @param {Range} range @param {number} width ms @returns {number} bins that it touches */
export const binsOf = ({ from, to }, width) => Math.ceil(to / width) - Math.floor(from / width);
