import type { Series } from '../../../schema/packed/series.ts';
import type { HourStatistics } from '../../../schema/packed/statistics.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { binsOf, type Grid } from './grid.ts';
import type { Range } from './hours.ts';

export interface Point {
  /** epoch ms of the bin's start, even if the range begins later */
  ts: number;
  min: number;
  max: number;
  /** null where the sum is too large for a double */
  avg: number | null;
  count: number;
}

/** Larger values are divided by SCALE before they are added. So an intermediate sum may exceed the range of a double. */
const LARGE = 2 ** 960;
const SCALE = 2 ** 64;

export type Aggregate = 'avg' | 'min' | 'max' | 'count' | 'sum' | 'first' | 'last';

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
  /** In epoch ms. If a sample comes from statistics, the start of its hour. */
  #firstAt;
  #lastAt;

  /** Samples outside of the range do not count. */
  constructor(range: Range, grid: Grid) {
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

  /** @returns false: the hour lies in two bins. The days of a zone with an offset of half an hour begin in the middle of a UTC hour */
  addHour(hour: number, { count, min, max, sum, first, last }: HourStatistics): boolean {
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

  addSamples({ times, values }: Series) {
    for (let at = 0; at < times.length; ) {
      const ts = times[at] as number;
      if (ts >= this.#range.to) return;
      if (ts < this.#range.from) {
        at++;
        continue;
      }
      const bin = this.#grid.indexOf(ts);
      const end = Math.min(this.#grid.startOf(bin + 1), this.#range.to);
      const begin = at;
      let [count, min, max] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (; at < times.length && (times[at] as number) < end; at++, count++) {
        const value = values[at] as number;
        if (value < min) min = value;
        if (value > max) max = value;
        this.#add(bin, value);
      }
      this.#widen(bin, count, min, max);
      const newest = times[at - 1] as number;
      const [first, last] = [values[begin], values[at - 1]];
      this.#stretch(bin, ts, first as number, newest, last as number);
    }
  }

  /** Both have the same range and grid. Afterwards `first` and `last` have no meaning. */
  addBins(other: Bins) {
    for (const [bin, count] of other.#counts.entries()) {
      if (count === 0) continue;
      this.#widen(bin, count, Number(other.#mins[bin]), Number(other.#maxs[bin]));
      this.#add(bin, Number(other.#sums[bin]));
      this.#lost[bin] = Number(this.#lost[bin]) + Number(other.#lost[bin]);
      this.#largeSums[bin] = Number(this.#largeSums[bin]) + Number(other.#largeSums[bin]);
    }
  }

  points(): Point[] {
    const points: Point[] = [];
    for (const [bin, count] of this.#counts.entries()) {
      if (count === 0) continue;
      const [min, max] = [this.#mins[bin] as number, this.#maxs[bin] as number];
      points.push({ ts: this.#grid.startOf(bin), min, max, avg: this.#average(bin), count });
    }
    return points;
  }

  /** Null for a bin without samples (except for `count`), and if a sum is too large for a double. */
  column(aggregate: Aggregate): Array<number | null> {
    const { length } = this.#grid;
    // A list that grows has no holes. `JSON.stringify` writes it in three quarters of the time of a `new Array(length)`.
    const column: Array<number | null> = [];
    const read = this.#reader(aggregate);
    for (let bin = 0; bin < length; bin++)
      column.push(this.#counts[bin] === 0 && aggregate !== 'count' ? null : read(bin));
    return column;
  }

  #reader(aggregate: Aggregate): (bin: number) => number | null {
    if (aggregate === 'avg') return (bin) => this.#average(bin);
    if (aggregate === 'sum') return (bin) => this.#sum(bin);
    const values = {
      min: this.#mins,
      max: this.#maxs,
      count: this.#counts,
      first: this.#firsts,
      last: this.#lasts,
    }[aggregate];
    return (bin) => values[bin] as number;
  }

  /** @param value a sample, or the sum of several samples */
  #add(bin: number, value: number) {
    if (!(value < LARGE && value > -LARGE)) {
      this.#largeSums[bin] = (this.#largeSums[bin] as number) + value / SCALE;
      return;
    }
    const sum = this.#sums[bin] as number;
    const next = sum + value;
    const rest = Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    this.#lost[bin] = (this.#lost[bin] as number) + rest;
    this.#sums[bin] = next;
  }

  #widen(bin: number, count: number, min: number, max: number) {
    this.#counts[bin] = (this.#counts[bin] as number) + count;
    if (min < (this.#mins[bin] as number)) this.#mins[bin] = min;
    if (max > (this.#maxs[bin] as number)) this.#maxs[bin] = max;
  }

  #stretch(bin: number, from: number, first: number, to: number, last: number) {
    if (from < (this.#firstAt[bin] as number)) {
      this.#firstAt[bin] = from;
      this.#firsts[bin] = first;
    }
    if (to > (this.#lastAt[bin] as number)) {
      this.#lastAt[bin] = to;
      this.#lasts[bin] = last;
    }
  }

  #sum(bin: number): number | null {
    const small = (this.#sums[bin] as number) + (this.#lost[bin] as number);
    const sum = small + (this.#largeSums[bin] as number) * SCALE;
    return Number.isFinite(sum) ? sum : null;
  }

  #average(bin: number): number | null {
    const sum = this.#sum(bin);
    return sum === null ? null : sum / (this.#counts[bin] as number);
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MONTH = 30 * DAY_MS;

/** In ms. Larger widths are whole multiples of the last one. */
export const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 30].map((days) => days * DAY_MS),
];

/** Bins begin at whole multiples of the width. @param points limit of bins @param shift ms by which the client's clock is ahead of UTC */
export function widthFor(range: Range, points: number, shift: number = 0): number {
  const width = WIDTHS.find((one) => binsOf(range, one, shift) <= points);
  if (width !== undefined) return width;
  let months = 2;
  while (binsOf(range, months * MONTH, shift) > points) months++;
  return months * MONTH;
}
