import { greaterValue } from '../../../../schema/packed/series.ts';
import type { HourStatistics } from '../../../../schema/packed/statistics.ts';
import { bucketOf, HOUR_MS } from '../../../../schema/rules.ts';
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

/** Of a UTC day. `stamp`: write timestamp, epoch µs; `hours`: by hour, in epoch ms */
export interface StoredDay {
  stamp: number;
  hours: Iterable<[hour: number, rollUp: RollUp]>;
}

const STAMP_BYTES = 8;
const BYTES = 56;

/**
 * Big-endian: the stamp as a double. Then for each hour count, min, max, sum, first and last as doubles, and the ms from the start of the
 * day to first and last.
 */
export function packDay(day: number, { stamp, hours }: StoredDay): Buffer {
  const rollUps = [...hours];
  const blob = Buffer.alloc(STAMP_BYTES + rollUps.length * BYTES);
  let at = blob.writeDoubleBE(stamp, 0);
  for (const [, { count, min, max, sum, first, last, firstAt, lastAt }] of rollUps) {
    for (const number of [count, min, max, sum, first, last]) at = blob.writeDoubleBE(number, at);
    at = blob.writeInt32BE(firstAt - day, at);
    at = blob.writeInt32BE(lastAt - day, at);
  }
  return blob;
}

/** @throws {RangeError} when the blob is damaged */
export function unpackDay(day: number, blob: Buffer): StoredDay {
  if (blob.length < STAMP_BYTES || (blob.length - STAMP_BYTES) % BYTES !== 0)
    throw new RangeError('these are no roll-ups');
  return { stamp: blob.readDoubleBE(0), hours: unpackHours(day, blob) };
}

function* unpackHours(day: number, blob: Buffer): Generator<[hour: number, rollUp: RollUp]> {
  for (let at = STAMP_BYTES; at < blob.length; at += BYTES) {
    const rollUp = unpackRollUp(day, blob, at, at + 48);
    yield [bucketOf(rollUp.firstAt), rollUp];
  }
}

function unpackRollUp(start: number, blob: Buffer, at: number, timesAt: number): RollUp {
  return {
    count: blob.readDoubleBE(at),
    min: blob.readDoubleBE(at + 8),
    max: blob.readDoubleBE(at + 16),
    sum: blob.readDoubleBE(at + 24),
    first: blob.readDoubleBE(at + 32),
    last: blob.readDoubleBE(at + 40),
    firstAt: start + blob.readInt32BE(timesAt),
    lastAt: start + blob.readInt32BE(timesAt + 4),
  };
}

/** A day that was stored before migration 034. @param blobs by hour of the day: a roll-up with its own stamp, and times from the start of the hour */
export function unpackOldDay(day: number, blobs: Record<string, Buffer>): StoredDay {
  const stamps = Object.values(blobs).map((blob) => blob.readDoubleBE(48));
  const hours = Object.entries(blobs).map(([index, blob]): [number, RollUp] => {
    const hour = day + Number(index) * HOUR_MS;
    return [hour, unpackRollUp(hour, blob, 0, 56)];
  });
  return { stamp: Math.max(0, ...stamps), hours: hours.filter(([, { count }]) => count > 0) };
}

export function isSameRollUp(a: RollUp | null, b: RollUp | null): boolean {
  if (a === null || b === null) return a === b;
  return (Object.keys(a) as Array<keyof RollUp>).every((key) => Object.is(a[key], b[key]));
}
