import { expect, test } from '@jest/globals';
import {
  packDay,
  type RollUp,
  RollUpSum,
  unpackDay,
  unpackOldDay,
} from '../../../../../api/features/assets/roll-ups/roll-up.ts';
import { HOUR_MS } from '../../../../../schema/rules.ts';

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

test('Roll-ups of a day: packed and unpacked: equal, with the stamp; damaged: an error', () => {
  const day = HOUR - 12 * HOUR_MS;
  const rollUp = merged([one(0.1, 7), one(-2.5e-300, 3_599_999)]);
  const stamp = 1_777_000_000_123_456;
  const unpack = (blob: Buffer) => {
    const stored = unpackDay(day, blob);
    return { ...stored, hours: [...stored.hours] };
  };
  const packed = packDay(day, { stamp, hours: [[HOUR, rollUp]] });
  expect(unpack(packed)).toEqual({ stamp, hours: [[HOUR, rollUp]] });
  expect(unpack(packDay(day, { stamp, hours: [] }))).toEqual({ stamp, hours: [] });
  for (const length of [7, 63, 65]) expect(() => unpack(Buffer.alloc(length))).toThrow(RangeError);
});

test('Roll-ups of a day: an earlier version stored them by hour: unpacked, without hours whose samples are gone', () => {
  const day = HOUR - 12 * HOUR_MS;
  const stored = Buffer.alloc(64);
  for (const [index, number] of [2, 1, 3, 4, 3, 1, 900].entries()) stored.writeDoubleBE(number, index * 8);
  stored.writeInt32BE(50, 56);
  stored.writeInt32BE(70, 60);
  const { stamp, hours } = unpackOldDay(day, { 12: stored, 13: Buffer.alloc(64) });
  const times = { firstAt: HOUR + 50, lastAt: HOUR + 70 };
  expect([stamp, [...hours]]).toEqual([
    900,
    [[HOUR, { count: 2, min: 1, max: 3, sum: 4, first: 3, last: 1, ...times }]],
  ]);
});
