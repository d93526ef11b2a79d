import { expect, test } from '@jest/globals';
import { WriteTimestamps } from '../../../api/store/cql-values.ts';
import { HOUR_MS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.ts';

const NOW = Date.UTC(2026, 10, 22);
const client = { log: () => {} } as never;

function createTimestamps() {
  const clock = { now: NOW };
  const timestamps = new WriteTimestamps(() => clock.now);
  return { clock, next: () => Number(timestamps.next(client)) };
}

test('Cassandra write timestamps: 2,500 in one ms: each is greater than the previous timestamp', () => {
  const { next } = createTimestamps();
  const made = Array.from({ length: 2500 }, next);
  expect(made[0]).toBe(NOW * 1000);
  expect(made.every((micros, index) => index === 0 || micros > Number(made[index - 1]))).toBe(true);
});

test('Cassandra write timestamps: the clock is set back within the allowed difference: timestamps still increase', () => {
  const { clock, next } = createTimestamps();
  const before = next();
  clock.now -= MOST_CLOCK_DIFFERENCE_MS;
  expect(next()).toBe(before + 1);
});

test('Cassandra write timestamps: the clock was two hours ahead and is corrected: timestamps follow the clock again', () => {
  const { clock, next } = createTimestamps();
  clock.now += 2 * HOUR_MS;
  next();
  clock.now = NOW;
  expect(next()).toBe(NOW * 1000);
  expect(next()).toBe(NOW * 1000 + 1);
});
