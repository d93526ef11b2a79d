import { expect, test } from '@jest/globals';
import { hourStatisticsOf, sumOf } from '../../../../schema/packed/statistics.ts';

test('Sum of doubles: values of very different size: the sum keeps digits that a plain sum loses', () => {
  const values = [1, 1e100, 1, -1e100];
  expect(values.reduce((sum, value) => sum + value)).toBe(0);
  expect(sumOf(values)).toBe(2);
  expect(sumOf(Array(1_000_000).fill(0.1))).toBe(100_000);
});

test('Sum of doubles: an intermediate sum exceeds the range of a double: the final sum is exact or infinite', () => {
  expect(sumOf([1e308, 1e308, -1e308, -5e307])).toBe(5e307);
  expect(sumOf([1e308, 1e308])).toBe(Number.POSITIVE_INFINITY);
  expect(sumOf([-1e308, 1, -1e308])).toBe(Number.NEGATIVE_INFINITY);
});

test('Hour statistics: three values, or one: count, minimum, maximum, sum, first and last value are calculated', () => {
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

test('Sum of doubles: the greatest double added 1,000 times and subtracted 999 times: exactly the greatest double', () => {
  const most = Number.MAX_VALUE;
  expect(sumOf([...Array(1000).fill(most), ...Array(999).fill(-most)])).toBe(most);
});
