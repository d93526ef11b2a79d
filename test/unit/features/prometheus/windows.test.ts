import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aggregateSeries } from '../../../../api/features/prometheus/series-aggregation.ts';
import { Windows } from '../../../../api/features/prometheus/windows.ts';
import { type Aggregate, Bins } from '../../../../api/history/reading/bins.ts';
import { AGGREGATES } from '../../../support/history/brute-force.ts';

/** @param times in order */
function binsOf(windows: Windows, times: number[], values: number[]) {
  const bins = new Bins(windows.range, windows.grid());
  bins.addSamples({ times, values });
  return bins;
}

test('PromQL windows: random steps, windows and samples: the same as from all samples', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -50, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 1, max: 60 }),
      fc.uniqueArray(fc.integer({ min: -120, max: 160 }), { maxLength: 60 }),
      (start, step, length, window, unordered) => {
        const times = unordered.sort((a, b) => a - b);
        // Modulo may be -0, and -0 + 0 is 0.
        const values = times.map((ts) => ((ts * 7) % 13) + 0);
        const windows = new Windows({ start, end: start + length, step }, window);
        const bins = binsOf(windows, times, values);
        for (const [aggregate, compute] of Object.entries(AGGREGATES)) {
          const expected = Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => {
            const at = start + index * step;
            expect(windows.timeOf(index)).toBe(at);
            const inWindow = values.filter(
              (_, sample) => Number(times[sample]) >= at - window && Number(times[sample]) < at,
            );
            return inWindow.length === 0 ? null : compute(inWindow);
          });
          const found = windows.valuesOf(bins, aggregate as Aggregate);
          expect(found.map(rounded)).toEqual(expected.map(rounded));
        }
      },
    ),
  );
});

const rounded = (value: number | null) => value && Number(value.toPrecision(12));

test('PromQL windows: values near the largest double: an exact average, and no sum', () => {
  const windows = new Windows({ start: 20, end: 25, step: 5 }, 20);
  const large = binsOf(windows, [1, 6, 11], [1.7e308, 1.7e308, 1.7e308]);
  expect(windows.valuesOf(large, 'avg')[0]).toBeCloseTo(1.7e308, -300);
  expect(windows.valuesOf(large, 'sum')[0]).toBeNull();
  expect(aggregateSeries('avg', [[1.7e308], [1.7e308]])).toEqual([1.7e308]);
  expect(aggregateSeries('sum', [[1.7e308], [1.7e308]])).toEqual([null]);
  expect(aggregateSeries('avg', [[0.1], [0.1], [null]])).toEqual([0.1]);
});

test.each([
  ['sum', [4, 2, null]],
  ['avg', [2, 2, null]],
  ['min', [1, 2, null]],
  ['max', [3, 2, null]],
  ['count', [2, 1, null]],
] as const)(
  'PromQL aggregation %s: series with gaps: each step has the series with a value: %j',
  (operator, expected) => {
    expect(
      aggregateSeries(operator, [
        [1, null, null],
        [3, 2, null],
      ]),
    ).toEqual(expected);
  },
);
