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

  test('Simulated signal: values change, and have no more digits than an instrument shows', () => {
    const values = readings(signal, 3, 3_600_000, 500);
    expect(new Set(values).size).toBeGreaterThan(signal.type === 'switch' ? 1 : 3);
    const total = ['energy', 'running-time'].includes(signal.type);
    const digits = values.map((value) => value.toExponential().replace(/e.*|-/g, '').length);
    expect(Math.max(...digits)).toBeLessThanOrEqual(total ? 16 : 8);
  });
});

test('Simulated signal: temperature of a cow: the median of a day is 37.8 to 39.4 °C', () => {
  const temperature = COLLAR_SIGNALS.find(({ type }) => type === 'temperature');
  if (!temperature) throw new Error('no temperature');
  for (let seed = 1; seed <= 5; seed += 1) {
    const values = readings(temperature, seed, 10_000, 8640).sort((a, b) => a - b);
    const median = Number(values[4320]);
    expect(median).toBeGreaterThan(37.8);
    expect(median).toBeLessThan(39.4);
  }
});

test('Simulated signal: speed and current of a machine agree with its running state', () => {
  const read = (name: string) => readings(point(name), 11, 10_000, 2000);
  const running = read('machine.running');
  const rotation = read('spindle.rotation');
  const current = read('x.current');
  // Indexes at which the machine has run, or stood still, for ten minutes.
  const settled = running.flatMap((state, i) =>
    i >= 60 && running.slice(i - 60, i).every((before) => before === state) ? [i] : [],
  );
  expect(new Set(settled.map((i) => running[i]))).toEqual(new Set([0, 1]));
  expect(settled.map((i) => Number(rotation[i]) > 11_000)).toEqual(settled.map((i) => running[i] === 1));
  expect(settled.map((i) => Number(current[i]) > 1)).toEqual(settled.map((i) => running[i] === 1));
});

test.each(['parts.good', 'parts.rejected', 'machine.starts', 'machine.energy', 'machine.running-time'])(
  'Simulated signal: counter %s never decreases',
  (name) => {
    const values = readings(point(name), 5, 60_000, 1000);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(values.at(-1)).toBeGreaterThan(Number(values[0]));
  },
);
