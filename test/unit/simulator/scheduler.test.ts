import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createSchedule, Scheduler } from '../../../simulator/fleet/scheduler.ts';

const START = Date.UTC(2026, 10, 21, 10);

// Fake timers: a test cannot make the real clock jump.
beforeEach(() => {
  jest.useFakeTimers({ now: START });
});
afterEach(() => {
  jest.useRealTimers();
});

function startScheduler() {
  const schedule = createSchedule({ devices: 2, intervalMs: 1000, batchMs: 1000 });
  const measured: number[] = [];
  const scheduler = new Scheduler({ schedule, intervalMs: 1000, onDue: (_, ts) => measured.push(ts) });
  scheduler.start();
  return { scheduler, measured };
}

test('Simulator scheduler: the timer fires late: measurements still have their due times', () => {
  const { scheduler, measured } = startScheduler();
  jest.setSystemTime(START + 1700);
  jest.advanceTimersByTime(500);
  scheduler.stop();
  expect(measured).toEqual([500, 1000, 1500, 2000].map((ms) => START + ms));
  jest.advanceTimersByTime(5000);
  expect(measured).toHaveLength(4);
});

test('Simulator scheduler: the machine slept for an hour: measurements continue now, and none are made for the hour', () => {
  const { measured } = startScheduler();
  jest.advanceTimersByTime(2000);
  jest.setSystemTime(START + 3_600_000);
  jest.advanceTimersByTime(2000);
  expect(measured.length).toBeLessThanOrEqual(9);
  expect(measured.at(-1)).toBeGreaterThan(START + 3_600_000);
  expect(measured).toEqual(measured.toSorted((a, b) => a - b));
});

test('Simulator scheduler: the clock is set back: measurements continue at the new time', () => {
  const { measured } = startScheduler();
  jest.advanceTimersByTime(2000);
  jest.setSystemTime(START - 3_600_000);
  jest.advanceTimersByTime(2000);
  expect(measured.at(-1)).toBeLessThan(START - 3_590_000);
  expect(measured.length).toBeGreaterThanOrEqual(6);
});
