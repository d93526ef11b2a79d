import { expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { samplesOfHour } from '../../../../tools/bench/loader/data-set.ts';

const HOUR = Date.UTC(2026, 4, 4, 5);
const recipe = { seed: 1, signal: 'decimals' as const, intervalMs: 1000, jitterMs: 20 };
const names = { device: 'load-1-000000', sensor: 'sensor-000' };

test('History loader: equal seed, device, sensor and hour give equal samples, other ones give other samples', () => {
  const once = samplesOfHour(recipe, names, HOUR);
  samplesOfHour(recipe, names, HOUR + HOUR_MS);
  expect(samplesOfHour(recipe, names, HOUR)).toEqual(once);
  for (const other of [
    samplesOfHour({ ...recipe, seed: 2 }, names, HOUR),
    samplesOfHour(recipe, { ...names, sensor: 'sensor-001' }, HOUR),
    samplesOfHour(recipe, { ...names, device: 'load-1-000001' }, HOUR),
    samplesOfHour(recipe, names, HOUR + HOUR_MS),
  ]) {
    expect(other.values).not.toEqual(once.values);
  }
});

test.each([
  [1000, 20],
  [1000, 0],
  [70, 34],
  [50, 0],
  [HOUR_MS, 20],
])('History loader: every %i ms, jitter %i ms: times ascend within the hour', (intervalMs, jitterMs) => {
  const { times } = samplesOfHour({ ...recipe, intervalMs, jitterMs }, names, HOUR);
  expect(times.length).toBe(Math.floor(HOUR_MS / intervalMs));
  expect(times.every((time, at) => Number.isInteger(time) && time > (times[at - 1] ?? HOUR - 1))).toBe(true);
  expect(Number(times.at(-1))).toBeLessThan(HOUR + HOUR_MS);
});
