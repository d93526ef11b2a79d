import { greaterValue } from '../../../../schema/packed/series.ts';
import type { HourStatistics } from '../../../../schema/packed/statistics.ts';
import type { SampleTimes } from '../../../store/history/reads.ts';

/** Exact statistics of all samples of an hour below an asset, of sensors of one type. The times are epoch ms. */
export type RollUp = HourStatistics & SampleTimes;

/** Larger sums are added divided by `SCALE`, so that an intermediate sum may exceed the range of a double. */
const LARGE = 2 ** 960;
const SCALE = 2 ** 64;

/** Merges the statistics of sensors and of assets. The order of the parts matters only for the last bit of the sum. */
export class RollUpSum {
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #sum = 0;
  /** rounding error of `sum` (compensated summation, Neumaier 1974) */
  #lost = 0;
  #largeSum = 0;
  #first = 0;
  #last = 0;
  #firstAt = Number.POSITIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;

  add({ count, min, max, sum, first, last, firstAt, lastAt }: RollUp) {
    this.#count += count;
    if (min < this.#min) this.#min = min;
    if (max > this.#max) this.#max = max;
    this.#add(sum);
    // Samples of several sensors may have the same instant. The greater value wins, as between two samples of one sensor.
    if (firstAt <= this.#firstAt) {
      this.#first = firstAt < this.#firstAt ? first : greaterValue(this.#first, first);
      this.#firstAt = firstAt;
    }
    if (lastAt >= this.#lastAt) {
      this.#last = lastAt > this.#lastAt ? last : greaterValue(this.#last, last);
      this.#lastAt = lastAt;
    }
  }

  get value(): RollUp {
    return {
      count: this.#count,
      min: this.#min,
      max: this.#max,
      sum: this.#sum + this.#lost + this.#largeSum * SCALE,
      first: this.#first,
      last: this.#last,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
    };
  }

  #add(value: number) {
    if (!(value < LARGE && value > -LARGE)) {
      this.#largeSum += value / SCALE;
      return;
    }
    const next = this.#sum + value;
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }
}

/** Null: the hour had samples, and has none now. `stamp`: write timestamp of the element, epoch µs */
export interface StoredRollUp {
  rollUp: RollUp | null;
  stamp: number;
}

const BYTES = 64;

/** Big-endian: count, min, max, sum, first, last and stamp as doubles, then the ms from the start of the hour to first and last. */
export function packRollUp(hour: number, { rollUp, stamp }: StoredRollUp): Buffer {
  const blob = Buffer.alloc(BYTES);
  const { count, min, max, sum, first, last, firstAt, lastAt } = rollUp ?? NOTHING;
  let at = 0;
  for (const number of [count, min, max, sum, first, last, stamp]) at = blob.writeDoubleBE(number, at);
  at = blob.writeInt32BE(count === 0 ? 0 : firstAt - hour, at);
  blob.writeInt32BE(count === 0 ? 0 : lastAt - hour, at);
  return blob;
}

const NOTHING: RollUp = { count: 0, min: 0, max: 0, sum: 0, first: 0, last: 0, firstAt: 0, lastAt: 0 };

/** @throws {RangeError} when the blob is damaged */
export function unpackRollUp(hour: number, blob: Buffer): StoredRollUp {
  if (blob.length !== BYTES) throw new RangeError('this is no roll-up');
  const count = blob.readDoubleBE(0);
  const stamp = blob.readDoubleBE(48);
  if (count === 0) return { rollUp: null, stamp };
  return {
    rollUp: {
      count,
      min: blob.readDoubleBE(8),
      max: blob.readDoubleBE(16),
      sum: blob.readDoubleBE(24),
      first: blob.readDoubleBE(32),
      last: blob.readDoubleBE(40),
      firstAt: hour + blob.readInt32BE(56),
      lastAt: hour + blob.readInt32BE(60),
    },
    stamp,
  };
}

export function isSameRollUp(a: RollUp | null, b: RollUp | null): boolean {
  if (a === null || b === null) return a === b;
  return (Object.keys(a) as Array<keyof RollUp>).every((key) => Object.is(a[key], b[key]));
}
