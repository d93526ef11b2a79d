import { describe, expect, test } from '@jest/globals';
import { COLLAR_SIGNALS, PROFILES } from '../../../simulator/profiles/index.ts';
import { createRandom } from '../../../simulator/random.ts';
import type { Signal } from '../../../simulator/signals/index.ts';

const readings = (signal: Signal, seed: number, intervalMs: number, count: number) =>
  Array.from(
    { length: count },
    signal.create(createRandom(seed, 'collar-0001'), intervalMs, () => createRandom(seed, 'device')),
  );

const POINTS = new Map(
  PROFILES['factory']?.sensorsOf(createRandom(1, 'any'), undefined).map(({ name, signal }) => [name, signal]),
);

function point(name: string): Signal {
  const signal = POINTS.get(name);
  if (!signal) throw new Error(`no ${name}`);
  return signal;
}

/** Every signal of a collar, and one signal of each type of a machine. */
const SIGNALS = [
  ...COLLAR_SIGNALS.map((signal) => ({ name: signal.type, signal })),
  ...new Map([...POINTS].map(([name, signal]) => [signal.type, { name, signal }])).values(),
];

describe.each(SIGNALS)('Signal $name', ({ signal }) => {
  test('Simulated signal: equal seeds give equal values, another seed gives other values', () => {
    const hourly = (seed: number) => readings(signal, seed, 3_600_000, 300);
    expect(hourly(7)).toEqual(hourly(7));
    expect(hourly(8)).not.toEqual(hourly(7));
  });

  test.each([10, 1000, 60_000, 3_600_000])(
    'Simulated signal: a value every %i ms: all values are within the range of the signal',
    (intervalMs) => {
      const [low, high] = signal.range;
      for (let seed = 1; seed <= 3; seed += 1) {
        const values = readings(signal, seed, intervalMs, 1500);
        expect(Math.min(...values)).toBeGreaterThanOrEqual(low);
        expect(Math.max(...values)).toBeLessThanOrEqual(high);
        expect(values.every(Number.isFinite)).toBe(true);
      }
    },
  );
});

test.each(['parts.good', 'parts.rejected', 'machine.starts', 'machine.energy', 'machine.running-time'])(
  'Simulated signal: counter %s never decreases',
  (name) => {
    const values = readings(point(name), 5, 60_000, 1000);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(values.at(-1)).toBeGreaterThan(Number(values[0]));
  },
);
