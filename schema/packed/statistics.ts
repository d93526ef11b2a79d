import type { Numbers } from './series.ts';

export interface HourStatistics {
  count: number;
  min: number;
  max: number;
  sum: number;
  first: number;
  last: number;
}

/** Of an hour whose samples were all removed. Readers skip it. */
const NO_SAMPLES: HourStatistics = { count: 0, min: 0, max: 0, sum: 0, first: 0, last: 0 };

/** @param values of all samples of an hour, in order of time */
export function hourStatisticsOf(values: Numbers): HourStatistics {
  if (values.length === 0) return NO_SAMPLES;
  const { count, min, max, last } = statisticsOf(values, 0, values.length);
  return { count, min, max, sum: sumOf(values), first: values[0] as number, last };
}

interface Statistics {
  count: number;
  min: number;
  max: number;
  /** plain, from left to right; infinite if it overflows */
  sum: number;
  last: number;
}

/** Samples of overlapping rows must be merged before, or they would count twice. @param values in order of time */
export function statisticsOf(values: Numbers, from: number, to: number): Statistics {
  const last = values[to - 1] as number;
  let min = last;
  let max = last;
  let sum = 0;
  for (let i = from; i < to; i++) {
    const value = values[i] as number;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  return { count: to - from, min, max, sum, last };
}

/** Values divided by this scale have a finite sum if there are fewer than 2^64 values. It is a power of two, so division loses no digit. */
const SCALE = 2 ** 64;

/** Compensated (Neumaier): a plain sum of large values of both signs may have no correct digit. Infinite only if the total overflows. */
export function sumOf(values: Iterable<number>): number {
  const sum = compensated(values, 1);
  return Number.isFinite(sum) ? sum : compensated(values, 1 / SCALE) * SCALE;
}

function compensated(values: Iterable<number>, factor: number) {
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
