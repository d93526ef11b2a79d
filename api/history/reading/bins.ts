import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';
import { binsOf } from './grid.js';

/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Grid } from './grid.js' */
/** @import { Range } from './hours.js' */

/**
 * One bin that has samples.
 *
 * @typedef {object} Point
 * @property {number} ts epoch ms of the bin's start, even if the range begins later
 * @property {number} min
 * @property {number} max
 * @property {number | null} avg null where the sum is too large for a double
 * @property {number} count
 */

/**
 * Values of this size or more are divided by SCALE before they are added. So an intermediate sum may exceed the range of
 * a double without an overflow.
 */
const LARGE = 2 ** 960;
const SCALE = 2 ** 64;

/** An aggregate of the samples of a bin. @typedef {'avg' | 'min' | 'max' | 'count' | 'sum' | 'first' | 'last'} Aggregate */

/** Computes the statistics of each bin of a range. Hours and samples may be added in any order. */
export class Bins {
  #range;
  #grid;
  #counts;
  #mins;
  #maxs;
  #sums;
  #largeSums;
  /** Rounding error of each of `sums` (compensated summation, Neumaier 1974). */
  #lost;
  #firsts;
  #lasts;
  /** Times of the samples in `#firsts` and `#lasts`, in epoch ms. If a sample comes from statistics, the start of its hour. */
  #firstAt;
  #lastAt;

  /**
   * @param {Range} range epoch ms; samples outside of it do not count
   * @param {Grid} grid of the range
   */
  constructor(range, grid) {
    this.#range = range;
    this.#grid = grid;
    const { length } = grid;
    this.#counts = new Float64Array(length);
    this.#mins = new Float64Array(length).fill(Number.POSITIVE_INFINITY);
    this.#maxs = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
    this.#sums = new Float64Array(length);
    this.#largeSums = new Float64Array(length);
    this.#lost = new Float64Array(length);
    this.#firsts = new Float64Array(length);
    this.#lasts = new Float64Array(length);
    this.#firstAt = new Float64Array(length).fill(Number.POSITIVE_INFINITY);
    this.#lastAt = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
  }

  /**
   * Adds the statistics of an hour, if the hour lies in one bin. An hour may lie in two bins, because the days of a time
   * zone with an offset of half an hour begin in the middle of a UTC hour.
   *
   * @param {number} hour epoch ms of an hour that lies in the range
   * @param {HourStatistics} statistics
   * @returns {boolean} false: the hour lies in two bins, and was not added
   */
  addHour(hour, { count, min, max, sum, first, last }) {
    // Only one method is called for each hour. With three calls, a query of a month of 1,000 sensors spent a third of
    // the time between rows and answer on them.
    const bin = this.#grid.indexOf(hour);
    if (this.#grid.startOf(bin + 1) < hour + HOUR_MS) return false;
    this.#widen(bin, count, min, max);
    this.#add(bin, sum);
    // The start of the hour is exact enough as the time of its first and last sample, because all other samples of the
    // bin belong to other hours.
    this.#stretch(bin, hour, first, hour, last);
    return true;
  }

  /** Adds samples. @param {Series} series samples in order of time */
  addSamples({ times, values }) {
    for (let at = 0; at < times.length; ) {
      const ts = /** @type {number} */ (times[at]);
      if (ts >= this.#range.to) return;
      if (ts < this.#range.from) {
        at++;
        continue;
      }
      const bin = this.#grid.indexOf(ts);
      const end = Math.min(this.#grid.startOf(bin + 1), this.#range.to);
      const begin = at;
      let [count, min, max] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (; at < times.length && /** @type {number} */ (times[at]) < end; at++, count++) {
        const value = /** @type {number} */ (values[at]);
        if (value < min) min = value;
        if (value > max) max = value;
        this.#add(bin, value);
      }
      this.#widen(bin, count, min, max);
      const newest = /** @type {number} */ (times[at - 1]);
      const [first, last] = [values[begin], values[at - 1]];
      this.#stretch(bin, ts, /** @type {number} */ (first), newest, /** @type {number} */ (last));
    }
  }

  /**
   * Adds the bins of another sensor. Afterwards `first` and `last` have no meaning.
   *
   * @param {Bins} other bins of the same range and grid
   */
  addBins(other) {
    for (const [bin, count] of other.#counts.entries()) {
      if (count === 0) continue;
      this.#widen(bin, count, Number(other.#mins[bin]), Number(other.#maxs[bin]));
      this.#add(bin, Number(other.#sums[bin]));
      this.#lost[bin] = Number(this.#lost[bin]) + Number(other.#lost[bin]);
      this.#largeSums[bin] = Number(this.#largeSums[bin]) + Number(other.#largeSums[bin]);
    }
  }

  /** Lists the bins as points. @returns {Point[]} bins with samples, in order of time */
  points() {
    /** @type {Point[]} */
    const points = [];
    for (const [bin, count] of this.#counts.entries()) {
      if (count === 0) continue;
      const [min, max] = [/** @type {number} */ (this.#mins[bin]), /** @type {number} */ (this.#maxs[bin])];
      points.push({ ts: this.#grid.startOf(bin), min, max, avg: this.#average(bin), count });
    }
    return points;
  }

  /**
   * Returns one aggregate for each bin.
   *
   * @param {Aggregate} aggregate
   * @returns {Array<number | null>} null for a bin without samples (except for `count`), and if a sum is too large for a double
   */
  column(aggregate) {
    const { length } = this.#grid;
    // A list that grows has no holes. `JSON.stringify` writes it in three quarters of the time of a `new Array(length)`.
    /** @type {Array<number | null>} */
    const column = [];
    const read = this.#reader(aggregate);
    for (let bin = 0; bin < length; bin++)
      column.push(this.#counts[bin] === 0 && aggregate !== 'count' ? null : read(bin));
    return column;
  }

  /** @param {Aggregate} aggregate @returns {(bin: number) => number | null} */
  #reader(aggregate) {
    if (aggregate === 'avg') return (bin) => this.#average(bin);
    if (aggregate === 'sum') return (bin) => this.#sum(bin);
    const values = {
      min: this.#mins,
      max: this.#maxs,
      count: this.#counts,
      first: this.#firsts,
      last: this.#lasts,
    }[aggregate];
    return (bin) => /** @type {number} */ (values[bin]);
  }

  /** Adds a value to the sum of a bin. @param {number} bin @param {number} value a sample, or the sum of several samples */
  #add(bin, value) {
    if (!(value < LARGE && value > -LARGE)) {
      this.#largeSums[bin] = /** @type {number} */ (this.#largeSums[bin]) + value / SCALE;
      return;
    }
    const sum = /** @type {number} */ (this.#sums[bin]);
    const next = sum + value;
    const rest = Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    this.#lost[bin] = /** @type {number} */ (this.#lost[bin]) + rest;
    this.#sums[bin] = next;
  }

  /** @param {number} bin @param {number} count @param {number} min @param {number} max */
  #widen(bin, count, min, max) {
    this.#counts[bin] = /** @type {number} */ (this.#counts[bin]) + count;
    if (min < /** @type {number} */ (this.#mins[bin])) this.#mins[bin] = min;
    if (max > /** @type {number} */ (this.#maxs[bin])) this.#maxs[bin] = max;
  }

  /** @param {number} bin @param {number} from epoch ms @param {number} first @param {number} to epoch ms @param {number} last */
  #stretch(bin, from, first, to, last) {
    if (from < /** @type {number} */ (this.#firstAt[bin])) {
      this.#firstAt[bin] = from;
      this.#firsts[bin] = first;
    }
    if (to > /** @type {number} */ (this.#lastAt[bin])) {
      this.#lastAt[bin] = to;
      this.#lasts[bin] = last;
    }
  }

  /** @param {number} bin @returns {number | null} */
  #sum(bin) {
    const small = /** @type {number} */ (this.#sums[bin]) + /** @type {number} */ (this.#lost[bin]);
    const sum = small + /** @type {number} */ (this.#largeSums[bin]) * SCALE;
    return Number.isFinite(sum) ? sum : null;
  }

  /** @param {number} bin @returns {number | null} */
  #average(bin) {
    const sum = this.#sum(bin);
    return sum === null ? null : sum / /** @type {number} */ (this.#counts[bin]);
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MONTH = 30 * DAY_MS;

/** Widths of bins, in ms. Larger widths are whole multiples of the last one. */
export const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 30].map((days) => days * DAY_MS),
];

/**
 * Returns the smallest width of bins with which a range has few enough bins. Bins begin at whole multiples of the width
 * on the client's clock.
 *
 * @param {Range} range not empty
 * @param {number} points limit of bins
 * @param {number} [shift] ms by which the client's clock is ahead of UTC
 * @returns {number} width in ms
 */
export function widthFor(range, points, shift = 0) {
  const width = WIDTHS.find((one) => binsOf(range, one, shift) <= points);
  if (width !== undefined) return width;
  let months = 2;
  while (binsOf(range, months * MONTH, shift) > points) months++;
  return months * MONTH;
}
