import { expect, test } from '@jest/globals';
import {
  packRollUp,
  type RollUp,
  RollUpSum,
  unpackRollUp,
} from '../../../../../api/features/assets/roll-ups/roll-up.ts';

const HOUR = Date.UTC(2026, 4, 5, 12);

const one = (value: number, at: number): RollUp => ({
  count: 1,
  min: value,
  max: value,
  sum: value,
  first: value,
  last: value,
  firstAt: HOUR + at,
  lastAt: HOUR + at,
});

function merged(parts: RollUp[]): RollUp {
  const sum = new RollUpSum();
  for (const part of parts) sum.add(part);
  return sum.value;
}

test('Roll-up: merged parts: exact count, extremes and ends', () => {
  expect(merged([one(2, 50), one(-7, 10), one(5, 3_599_999)])).toEqual({
    count: 3,
    min: -7,
    max: 5,
    sum: 0,
    first: -7,
    last: 5,
    firstAt: HOUR + 10,
    lastAt: HOUR + 3_599_999,
  });
});

test('Roll-up: samples of one instant: the same first and last in each order', () => {
  const parts = [one(2, 50), one(3, 50), one(-4, 50)];
  const { first, last } = merged(parts);
  expect(merged([...parts].reverse())).toMatchObject({ first, last });
});

test('Roll-up: small parts between large ones of both signs: no digit of the sum is lost', () => {
  expect(merged([one(1e17, 0), one(1.5, 1), one(-1e17, 2), one(0.25, 3)]).sum).toBe(1.75);
});

test('Roll-up: an intermediate sum exceeds a double: the sum is finite', () => {
  expect(merged([one(1.5e308, 0), one(1.5e308, 1), one(-1.5e308, 2)]).sum).toBe(1.5e308);
});

test('Roll-up: packed and unpacked: equal; without samples: null with its stamp', () => {
  const rollUp = merged([one(0.1, 7), one(-2.5e-300, 3_599_999)]);
  const stamp = 1_777_000_000_123_456;
  expect(unpackRollUp(HOUR, packRollUp(HOUR, { rollUp, stamp }))).toEqual({ rollUp, stamp });
  expect(unpackRollUp(HOUR, packRollUp(HOUR, { rollUp: null, stamp }))).toEqual({ rollUp: null, stamp });
  expect(() => unpackRollUp(HOUR, Buffer.alloc(63))).toThrow(RangeError);
});
