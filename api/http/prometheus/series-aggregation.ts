import { average, finite } from './windows.js';

/** @import { SeriesOperator } from './expression.js' */

/**
 * Aggregates the values of several series at each step.
 *
 * @param {SeriesOperator} operator
 * @param {Array<Array<number | null>>} series
 * @returns {Array<number | null>} null: no series has a value at the step, or the sum is too large for a double
 */
export const aggregateSeries = (operator, series) =>
  Array.from({ length: series[0]?.length ?? 0 }, (_, step) => {
    const values = series.map((column) => column[step] ?? null).filter((value) => value !== null);
    return values.length === 0 ? null : finite(OPERATORS[operator](values));
  });

/** @param {number[]} values */
function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** @type {Record<SeriesOperator, (values: number[]) => number>} */
const OPERATORS = {
  sum: sumOf,
  count: (values) => values.length,
  avg: (values) =>
    average(sumOf(values), values.length, () => sumOf(values.map((value) => value / values.length))),
  min: (values) => values.reduce((least, value) => Math.min(least, value)),
  max: (values) => values.reduce((most, value) => Math.max(most, value)),
};
