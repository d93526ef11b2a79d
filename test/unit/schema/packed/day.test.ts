import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { packDay, unpackDay } from '../../../../schema/packed/day.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';

const DAY = Date.UTC(2026, 10, 21);

const double = fc.double({ noNaN: true });
const statistics = fc.record({
  count: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  min: double,
  max: double,
  sum: double,
  first: double,
  last: double,
});
const days = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 23 }), statistics, fc.integer({ min: 0, max: 2 ** 45 })), {
    selector: ([index]) => index,
    maxLength: 24,
  })
  .map((hours) =>
    hours
      .sort(([a], [b]) => a - b)
      .map(([index, one, readFrom]) => ({ hour: DAY + index * HOUR_MS, statistics: one, readFrom })),
  );

test('Packed day: random statistics of hours: unpacking returns them unchanged', () => {
  fc.assert(
    fc.property(days, (hours) =>
      expect(unpackDay(DAY, packDay(DAY, hours))).toEqual(hours.map((hour) => ({ ...hour, lateAt: null }))),
    ),
  );
});

test('Packed day: example of docs/reference/packed-form.md: packed to the documented bytes', () => {
  const one = { count: 3, min: -1, max: 2, sum: 1.5, first: 0, last: 2 };
  const blob = packDay(DAY, [{ hour: DAY + 17 * HOUR_MS, statistics: one, readFrom: 1 }]);
  expect(blob.toString('hex')).toBe(
    [
      '04',
      '000002',
      '000000000000f03f',
      '03000000',
      '000000000000f0bf',
      '0000000000000040',
      '000000000000f83f',
      '0000000000000000',
      '0000000000000040',
    ].join(''),
  );
});

test('Packed day: bytes that are cut off, too long, or of another version: unpacking throws a RangeError', () => {
  const blob = packDay(DAY, []);
  expect(unpackDay(DAY, blob)).toEqual([]);
  for (const broken of [
    blob.subarray(0, 3),
    Buffer.concat([blob, Buffer.alloc(1)]),
    Buffer.from('05000000', 'hex'),
  ])
    expect(() => unpackDay(DAY, broken)).toThrow(RangeError);
});
