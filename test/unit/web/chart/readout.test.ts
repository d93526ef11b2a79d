import { expect, test } from '@jest/globals';
import { readingAt } from '../../../../web/chart/readout.ts';
import { shapeOfBins, shapeOfSamples } from '../../../../web/chart/shape.ts';

const RANGE = { from: 0, to: 100_000 };
const SAMPLES = shapeOfSamples({ ts: [10_000, 20_000, 60_000], value: [1, 2, 6] }, RANGE);
const BINS = shapeOfBins(
  {
    points: [0, 10_000, 40_000].map((ts) => ({
      ts: new Date(ts).toISOString(),
      min: ts / 1000,
      avg: ts / 1000 + 2,
      max: ts / 1000 + 5,
      count: 9,
    })),
    step_ms: 10_000,
    source: 'samples',
  },
  RANGE,
);

test.each([
  [9_500, 1],
  [14_999, 1],
  [15_001, 2],
  [21_000, 2],
  [40_000, null],
  [54_000, null],
  [56_000, 6],
  [99_000, null],
])(
  'Value at the chart cursor: samples at 10, 20, 60 s, cursor at %d ms: value within 5 s is %j',
  (ts, value) => {
    expect(readingAt(SAMPLES, ts, 5_000)?.avg ?? null).toBe(value);
  },
);

test('Value at the chart cursor: cursor within the width of a bin: values of that bin; cursor outside of all bins: null', () => {
  expect(readingAt(BINS, 10_001, 0)).toEqual({ avg: 12, min: 10, max: 15, isRaw: false });
  expect(readingAt(BINS, 19_999, 0)?.avg).toBe(12);
  expect(readingAt(BINS, 30_000, 0)).toBeNull();
  expect(readingAt(BINS, 49_999, 0)?.avg).toBe(42);
});
