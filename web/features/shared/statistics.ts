import type { Shape } from '../../chart/shape.ts';
import type { Signal } from '../../states.ts';

export interface Statistics {
  count: number;
  /** lowest value; null: there are no samples */
  min: number | null;
  max: number | null;
  /** average; null: there are no samples, or the average is beyond the number range */
  avg: number | null;
  /** time in epoch ms of the first sample or bin with the minimum */
  minAt: number | null;
  maxAt: number | null;
}

export function statisticsOf({ ts, min, avg, max, count }: Shape): Statistics {
  let [samples, lowest, highest, mean] = [0, 0, 0, 0];
  for (const at of ts.keys()) {
    const here = count[at] ?? 0;
    samples += here;
    if ((min[at] ?? 0) < (min[lowest] ?? 0)) lowest = at;
    if ((max[at] ?? 0) > (max[highest] ?? 0)) highest = at;
    // A running mean keeps its precision. A sum of many values would lose precision.
    mean += (((avg[at] ?? Number.NaN) - mean) * here) / samples;
  }
  return {
    count: samples,
    min: min[lowest] ?? null,
    max: max[highest] ?? null,
    avg: samples > 0 && Number.isFinite(mean) ? mean : null,
    minAt: ts[lowest] ?? null,
    maxAt: ts[highest] ?? null,
  };
}

export const changesOf = (values: number[]): number =>
  values.reduce((count, value, at) => count + Number(at > 0 && value !== values[at - 1]), 0);

/** @returns share of the samples in each of two states, sorted by state; empty: bins with more states */
export function sharesOf({
  min,
  avg,
  max,
  count,
  stepMs,
}: Pick<Signal, 'min' | 'avg' | 'max' | 'count' | 'stepMs'>): { value: number; share: number }[] {
  const samples: Map<number, number> = new Map();
  const add = (value: number, number: number) => samples.set(value, (samples.get(value) ?? 0) + number);
  for (const [at, low] of min.entries()) {
    const [high = low, mean = low, all = 0] = [max[at], avg[at] ?? low, count[at]];
    const inHigh = high > low ? ((mean - low) / (high - low)) * all : 0;
    add(low, all - inHigh);
    if (high > low) add(high, inHigh);
  }
  const values = [...samples.keys()].sort((a, b) => a - b);
  if (stepMs !== null && values.some((value) => value > 1)) return [];
  const total = [...samples.values()].reduce((sum, number) => sum + number, 0);
  return values.map((value) => ({ value, share: (samples.get(value) ?? 0) / total }));
}
