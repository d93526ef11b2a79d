import { expect, test } from '@jest/globals';
import pino from 'pino';
import { ClockGuard } from '../../../api/store/clock-guard.ts';
import { until } from '../../support/until.ts';

const PERIODS = { trusted: 5, distrusted: 5 };

function clockWith({
  difference = async () => 0,
  periods,
}: {
  difference?: () => Promise<number>;
  periods?: typeof PERIODS;
} = {}) {
  const held = { now: 1_000_000, monotonic: 0 };
  const trusted = new ClockGuard({
    clock: () => held.now,
    monotonic: () => held.monotonic,
    difference,
    logger: pino({ level: 'silent' }),
    periods,
  });
  return { held, trusted };
}

test('Clock guard: the server clock is not compared yet, or wrong: now() waits until the clock is right', async () => {
  let ahead = 60_001;
  const { held, trusted } = clockWith({ difference: async () => ahead, periods: PERIODS });
  const first = trusted.now();
  await trusted.start();
  const second = trusted.now();
  expect(trusted.isTrusted).toBe(false);
  expect(first).toBeInstanceOf(Promise);
  expect(second).toBeInstanceOf(Promise);
  held.now = 2_000_000;
  ahead = 60_000;
  await expect(Promise.all([first, second])).resolves.toEqual([2_000_000, 2_000_000]);
  trusted.stop();
});

test('Clock guard: the server clock jumps at run time: now() resolves only after a new comparison with the database', async () => {
  let compared = 0;
  const { held, trusted } = clockWith({ difference: async () => compared++ });
  await trusted.start();
  held.monotonic += 1000;
  held.now += 1000 + 60_001;
  const time = trusted.now();
  expect(time).toBeInstanceOf(Promise);
  await expect(time).resolves.toBe(held.now);
  expect(compared).toBe(2);
  trusted.stop();
});

test('Clock guard: the server clock turns wrong between two comparisons: compared often until the clock is right', async () => {
  let ahead = 0;
  const { held, trusted } = clockWith({
    difference: async () => ahead,
    periods: { trusted: 1_000_000, distrusted: 5 },
  });
  await trusted.start();
  ahead = 600_000;
  held.now += ahead;
  const time = trusted.now();
  await until(() => trusted.differenceMs === 600_000);
  held.now -= ahead;
  ahead = 0;
  await expect(time).resolves.toBe(1_000_000);
  trusted.stop();
});

test('Clock guard: the database does not answer: the clock is judged by the last comparison', async () => {
  let away = false;
  const { trusted } = clockWith({
    difference: async () => {
      if (away) throw new Error('away');
      return 0;
    },
    periods: PERIODS,
  });
  away = true;
  await trusted.start();
  expect(trusted.isTrusted).toBe(false);
  away = false;
  await expect(trusted.now()).resolves.toBe(1_000_000);
  away = true;
  expect(trusted.now()).toBe(1_000_000);
  trusted.stop();
});

test('Clock guard: the process stops while now() waits: now() rejects as unavailable', async () => {
  const { trusted } = clockWith({ difference: async () => 1e9 });
  await trusted.start();
  const waiting = trusted.now();
  trusted.stop();
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  await expect(trusted.now()).rejects.toMatchObject({ code: 'unavailable' });
});
