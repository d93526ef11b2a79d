import { describe, expect, test } from '@jest/globals';
import { createRandom } from '../../../simulator/random.js';
import { SIGNALS } from '../../../simulator/signals/index.js';

/** @param {import('../../../simulator/signals/index.js').Signal} signal @param {number} seed @param {number} intervalMs @param {number} count */
const readings = (signal, seed, intervalMs, count) =>
  Array.from({ length: count }, signal.create(createRandom(seed, 'collar-0001'), intervalMs));

describe.each(SIGNALS.map((signal) => ({ type: signal.type, signal })))('$type', ({ signal }) => {
  test('gives the same values for the same seed, and others for another', () => {
    expect(readings(signal, 7, 1000, 500)).toEqual(readings(signal, 7, 1000, 500));
    expect(readings(signal, 8, 1000, 500)).not.toEqual(readings(signal, 7, 1000, 500));
  });

  test.each([10, 1000, 60_000, 3_600_000])('stays in its range when read every %i ms', (intervalMs) => {
    const [low, high] = signal.range;
    for (let seed = 1; seed <= 5; seed += 1) {
      const values = readings(signal, seed, intervalMs, 5000);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(low);
      expect(Math.max(...values)).toBeLessThanOrEqual(high);
      expect(values.every(Number.isFinite)).toBe(true);
    }
  });

  test('moves, and has no more decimals than an instrument shows', () => {
    const values = readings(signal, 3, 1000, 1000);
    expect(new Set(values).size).toBeGreaterThan(3);
    expect(values.every((value) => String(value).length <= 6)).toBe(true);
  });
});

test('a cow at rest is neither cold nor hot', () => {
  const temperature = SIGNALS.find(({ type }) => type === 'temperature');
  if (!temperature) throw new Error('no temperature');
  for (let seed = 1; seed <= 20; seed += 1) {
    const values = readings(temperature, seed, 10_000, 8640).sort((a, b) => a - b);
    const median = Number(values[4320]);
    expect(median).toBeGreaterThan(37.8);
    expect(median).toBeLessThan(39.4);
  }
});
