import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitRows } from '../../schema/packed/split.js';
import { bucketOf, HOUR_MS, MAX_SAMPLES_PER_ROW } from '../../schema/rules.js';
import { sortedSeries } from './packed-arbitraries.js';

const NINE = Date.UTC(2026, 10, 21, 9);

/** A few hours, before and after 1970, sparse or as dense as one sample each millisecond. */
const anyTimes = fc.oneof(
  sortedSeries({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }).map(({ times }) => times),
  fc
    .tuple(
      fc.integer({ min: -5000, max: 5000 }),
      fc.integer({ min: 0, max: 5000 }),
      fc.integer({ min: 1, max: 5000 }),
    )
    .map(([start, length, step]) => Array.from({ length }, (_, i) => NINE + start + i * step)),
);

test('pieces cover the series without gap or overlap, each of one hour and not too long', () => {
  fc.assert(
    fc.property(anyTimes, (times) => {
      let reached = 0;
      for (const { bucket, from, to } of splitRows(times)) {
        expect(from).toBe(reached);
        expect(to - from).toBeGreaterThanOrEqual(1);
        expect(to - from).toBeLessThanOrEqual(MAX_SAMPLES_PER_ROW);
        expect([bucketOf(Number(times[from])), bucketOf(Number(times[to - 1]))]).toEqual([bucket, bucket]);
        reached = to;
      }
      expect(reached).toBe(times.length);
    }),
  );
});

test('no piece ends before it must: at its hour, when it is full, or with the series', () => {
  fc.assert(
    fc.property(anyTimes, (times) => {
      for (const { bucket, from, to } of splitRows(times)) {
        const mustEnd =
          to === times.length || to - from === MAX_SAMPLES_PER_ROW || Number(times[to]) >= bucket + HOUR_MS;
        expect(mustEnd).toBe(true);
      }
    }),
  );
});

test('no samples, no rows', () => {
  expect(splitRows([])).toEqual([]);
});

test('the count begins anew with each hour', () => {
  const times = Array.from({ length: 3000 }, (_, i) => NINE + HOUR_MS - 1100 + i);
  expect(splitRows(times)).toEqual([
    { bucket: NINE, from: 0, to: 1024 },
    { bucket: NINE, from: 1024, to: 1100 },
    { bucket: NINE + HOUR_MS, from: 1100, to: 2124 },
    { bucket: NINE + HOUR_MS, from: 2124, to: 3000 },
  ]);
});

test('the last millisecond belongs to its hour, the next one to the next', () => {
  expect(splitRows([NINE + HOUR_MS - 1, NINE + HOUR_MS])).toEqual([
    { bucket: NINE, from: 0, to: 1 },
    { bucket: NINE + HOUR_MS, from: 1, to: 2 },
  ]);
});
