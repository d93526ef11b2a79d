import type { SeriesOperator } from './expression.ts';
import { average, finiteOrNull } from './windows.ts';

/** Null: no series has a value at the step, or the sum is too large for a double. */
export const aggregateSeries = (
  operator: SeriesOperator,
  series: Array<Array<number | null>>,
): Array<number | null> =>
  Array.from({ length: series[0]?.length ?? 0 }, (_, step) => {
    const values = series.map((column) => column[step] ?? null).filter((value) => value !== null);
    return values.length === 0 ? null : finiteOrNull(OPERATORS[operator](values));
  });

function sumOf(values: number[]) {
  return values.reduce((sum, value) => sum + value, 0);
}

const OPERATORS: Record<SeriesOperator, (values: number[]) => number> = {
  sum: sumOf,
  count: (values) => values.length,
  avg: (values) =>
    average(sumOf(values), values.length, () => sumOf(values.map((value) => value / values.length))),
  min: (values) => values.reduce((least, value) => Math.min(least, value)),
  max: (values) => values.reduce((most, value) => Math.max(most, value)),
};
