import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { callAfter } from '../../../common/durations.ts';

const DAY_MS = 86_400_000;

// Fake timers, because the tests cannot wait for weeks.
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test.each([1000, 24 * DAY_MS, 30 * DAY_MS, 100 * DAY_MS])(
  'callAfter(): delay of %i ms: the callback runs once, after exactly this time',
  (ms) => {
    let calls = 0;
    callAfter(ms, () => {
      calls++;
    });
    jest.advanceTimersByTime(ms - 1);
    expect(calls).toBe(0);
    jest.advanceTimersByTime(1);
    expect(calls).toBe(1);
    jest.advanceTimersByTime(100 * DAY_MS);
    expect(calls).toBe(1);
  },
);
