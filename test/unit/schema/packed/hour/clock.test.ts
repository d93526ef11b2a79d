import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fitClock, MAX_POSITION, missedIn, tickAt } from '../../../../../schema/packed/hour/clock.ts';

/** A clock counts in units of 2^-24 ms. */
const UNITS = 2 ** 24;

/** @returns offsets with these differences */
function offsetsOf(steps: number[], first: number = 0): Float64Array {
  let offset = first;
  return Float64Array.from([first, ...steps.map((step) => (offset += step))]);
}

const lineOf = (offsets: number[], ticks: number[] = offsets.map((_, index) => index)) =>
  fitClock(Float64Array.from(offsets), Float64Array.from(ticks));

test('Clock fit: random steps between samples: the line solves the normal equations of least squares', () => {
  const steps = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(steps, fc.nat({ max: 60_000 }), (list, first) => {
      const offsets = [...offsetsOf(list, first)];
      const n = offsets.length;
      const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
      const ticks = offsets.map((_, index) => index);
      const squares = n * sum(ticks.map((x) => x * x)) - sum(ticks) ** 2;
      const products = n * sum(offsets.map((y, x) => x * y)) - sum(ticks) * sum(offsets);
      const slope = products / squares;
      const origin = Math.max(0, (sum(offsets) - slope * sum(ticks)) / n + 0.5);
      const clock = lineOf(offsets);
      expect(Math.abs(clock.interval / UNITS - slope)).toBeLessThan(1e-6);
      expect(Math.abs(clock.origin / UNITS - origin)).toBeLessThan(1e-6);
    }),
  );
});

test.each([
  [{ origin: MAX_POSITION, interval: 2 }, 1],
  [{ origin: 0, interval: MAX_POSITION }, 2],
  [{ origin: 0, interval: MAX_POSITION }, -2],
])('Clock tick: clock %p, tick %i: out of range, a RangeError is thrown', (clock, tick) => {
  expect(() => tickAt(clock, tick)).toThrow(RangeError);
});

describe('clock: missed ticks', () => {
  /** Usual step: the mean of all steps within 0.5 to 1.5 medians of 63 evenly chosen steps. */
  function missedByDefinition(steps: number[]) {
    const some =
      steps.length <= 63
        ? steps
        : Array.from({ length: 63 }, (_, i) => steps[Math.trunc((i * steps.length) / 63)]);
    const sorted = some.map(Number).sort((a, b) => a - b);
    const median = Number(sorted[Math.trunc(sorted.length / 2)]);
    const near = steps.filter((step) => step * 2 >= median && step * 2 <= median * 3);
    const usual = near.reduce((sum, step) => sum + step, 0) / near.length;
    return steps.map((step) => Math.round(step / usual) - 1);
  }

  // Few step lengths, halves and multiples of each other: the median then decides which steps are near it.
  const step = fc.constantFrom(4, 5, 7, 10, 15, 20, 23, 30);

  test.each([
    [1, 12],
    [60, 68],
    [120, 260],
  ])('Missed clock ticks: %i to %i random steps: equal to the definition', (minLength, maxLength) => {
    fc.assert(
      fc.property(fc.array(step, { minLength, maxLength, size: 'max' }), (steps) => {
        expect([...missedIn(offsetsOf(steps))]).toEqual([0, ...missedByDefinition(steps)]);
      }),
      { numRuns: 150 },
    );
  });
});
