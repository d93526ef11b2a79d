import { expect, test } from '@jest/globals';
import { hourStatisticsOf } from '../../schema/packed/hour-statistics.js';
import { sumOf } from '../../schema/packed/sum.js';

test('a sum has the digits that rounding takes from a plain one', () => {
  const values = [1, 1e100, 1, -1e100];
  expect(values.reduce((sum, value) => sum + value)).toBe(0);
  expect(sumOf(values)).toBe(2);
  expect(sumOf(Array(1_000_000).fill(0.1))).toBe(100_000);
});

test('a sum that is beyond a double only on the way is finite', () => {
  expect(sumOf([1e308, 1e308, -1e308, -5e307])).toBe(5e307);
  expect(sumOf([1e308, 1e308])).toBe(Number.POSITIVE_INFINITY);
  expect(sumOf([-1e308, 1, -1e308])).toBe(Number.NEGATIVE_INFINITY);
});

test('the statistics of an hour', () => {
  expect(hourStatisticsOf([3, -1, 2])).toEqual({ count: 3, min: -1, max: 3, sum: 4, first: 3, last: 2 });
  expect(hourStatisticsOf(new Float64Array([7]))).toEqual({
    count: 1,
    min: 7,
    max: 7,
    sum: 7,
    first: 7,
    last: 7,
  });
});
