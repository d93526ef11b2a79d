import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  fitClock,
  MAX_POSITION,
  missedIn,
  tickAt,
  ticksOf,
} from '../../../../../schema/packed/hour/clock.ts';

/** A clock counts in units of 2^-24 ms. */
const UNITS = 2 ** 24;

/** @returns offsets with these differences */
function offsetsOf(steps: number[], first: number = 0): Float64Array {
  let offset = first;
  return Float64Array.from([first, ...steps.map((step) => (offset += step))]);
}

const lineOf = (offsets: number[], ticks: number[] = offsets.map((_, index) => index)) =>
  fitClock(Float64Array.from(offsets), Float64Array.from(ticks));

test.each([
  ['one sample at 0', [0], [0], { origin: 0.5, interval: 0 }],
  ['one sample at 7', [7], [0], { origin: 7.5, interval: 0 }],
  ['two samples', [3, 13], [0, 1], { origin: 3.5, interval: 10 }],
  ['two samples of one tick', [3, 13], [4, 4], { origin: 8.5, interval: 0 }],
  ['a tick without a sample', [3, 13, 33], [0, 1, 3], { origin: 3.5, interval: 10 }],
  ['ticks that begin at 1', [10, 20], [1, 2], { origin: 0.5, interval: 10 }],
  ['a line that would begin before the hour', [0, 10], [1, 2], { origin: 0, interval: 10 }],
  ['a third of a ms', [0, 1], [0, 3], { origin: 0.5, interval: 1 / 3 }],
  ['two thirds of a ms', [0, 2], [0, 3], { origin: 0.5, interval: 2 / 3 }],
  ['an origin with a fraction', [0, 1, 1], [0, 1, 2], { origin: 2 / 3, interval: 1 / 2 }],
  ['a first sample off the line', [6, 10, 20, 30], [0, 1, 2, 3], { origin: 4.7, interval: 8.2 }],
  ['a line that falls', [10, 0], [0, 1], { origin: 5.5, interval: 0 }],
])('Clock fit: %s: least-squares line plus 0.5 ms', (_, offsets, ticks, { origin, interval }) => {
  expect(lineOf(offsets, ticks)).toEqual({
    origin: Math.round(origin * UNITS),
    interval: Math.round(interval * UNITS),
  });
});

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
  [{ origin: 0, interval: UNITS }, 5, 5],
  [{ origin: UNITS / 2, interval: UNITS }, 5, 5],
  [{ origin: UNITS - 1, interval: 0 }, 5, 0],
  [{ origin: 0, interval: UNITS - 1 }, 2, 1],
  [{ origin: 0, interval: 1 }, -1, -1],
  [{ origin: MAX_POSITION, interval: 0 }, 0, 2 ** 29],
  [{ origin: 0, interval: MAX_POSITION }, -1, -(2 ** 29)],
])('Clock tick: clock %p, tick %i: the time is %i ms, rounded down', (clock, tick, ms) => {
  expect(tickAt(clock, tick)).toBe(ms);
});

test.each([
  [{ origin: MAX_POSITION, interval: 2 }, 1],
  [{ origin: 0, interval: MAX_POSITION }, 2],
  [{ origin: 0, interval: MAX_POSITION }, -2],
])('Clock tick: clock %p, tick %i: out of range, a RangeError is thrown', (clock, tick) => {
  expect(() => tickAt(clock, tick)).toThrow(RangeError);
});

test.each([
  [[], []],
  [
    [0, 0, 0],
    [0, 1, 2],
  ],
  [
    [0, 2, 0, 1],
    [0, 3, 4, 6],
  ],
  [
    [3, 0],
    [3, 4],
  ],
  [
    [0, -1, 0],
    [0, 0, 1],
  ],
])('Clock ticks: ticks missed before each sample %p: tick numbers of the samples %p', (missed, ticks) => {
  expect([...ticksOf(Int32Array.from(missed))]).toEqual(ticks);
});

describe('clock: missed ticks', () => {
  test.each([
    ['even steps', [10, 10, 10], [0, 0, 0]],
    ['one tick is missed', [10, 10, 20, 10], [0, 0, 1, 0]],
    ['a long gap is no part of the mean', [10, 10, 1000, 10, 10], [0, 0, 99, 0, 0]],
    ['a short step is no part of the mean', [10, 1, 10, 24], [0, -1, 0, 1]],
    ['the first step is part of the mean', [8, 10, 23], [0, 0, 2]],
    ['the last step is part of the mean', [23, 10, 8], [2, 0, 0]],
    ['half of the median is part of the mean', [10, 10, 5, 21], [0, 0, 0, 2]],
    ['1.5 times the median is part of the mean', [10, 10, 15, 28], [0, 0, 0, 1]],
  ])('Missed clock ticks: %s: steps of %p ms: %p ticks missed', (_, steps, missed) => {
    expect([...missedIn(offsetsOf(steps, 500))]).toEqual([0, ...missed]);
  });

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
