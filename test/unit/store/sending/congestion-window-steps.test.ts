import { expect, test } from '@jest/globals';
import { CongestionWindow } from '../../../../api/store/sending/congestion-window.ts';

/** A window whose clock and answers the test gives by hand. */
function createSteps() {
  let now = 0;
  const window = new CongestionWindow({ max: 1024, now: () => now });

  /** Eight answers of one latency, 10 ms apart. @param at ms, of the last @param took ms */
  function answers(at: number, took: number) {
    for (let left = 7; left >= 0; left--) {
      now = at - 10 * left;
      window.record(now - took, false);
    }
  }

  return { window, answers };
}

test.each([
  ['at the limit of 8 times', 8, 64, 32],
  ['a quarter over the limit', 8, 80, 25],
  ['far over the limit', 8, 1000, 22],
  ['8 ms over an unloaded one of 1 ms', 1, 9, 32],
  ['9 ms over an unloaded one of 1 ms', 1, 10, 28],
])('Congestion window: median latency %s: %i ms unloaded, %i ms now: size %i', (_, unloaded, now, size) => {
  const { window, answers } = createSteps();
  for (let at = 100; at <= 1000; at += 100) answers(at, unloaded);
  answers(1100, now);
  expect(window.size).toBe(size);
});
