import { expect, test } from '@jest/globals';
import { medianOf } from '../../../../api/store/sending/congestion-window.ts';

test.each([
  [[7], 7],
  [[100, 9, 2, 1, 30], 9],
  [[40, 3, 20, 1], 20],
])('Median: numbers %p: the median is %p, and the argument stays unchanged', (numbers, median) => {
  const given = [...numbers];
  expect(medianOf(given)).toBe(median);
  expect(given).toEqual(numbers);
});
