import { expect, test } from '@jest/globals';
import {
  createZone,
  formatAge,
  formatField,
  formatNumber,
  formatZone,
  isNamedZone,
  NOTHING,
  otherZone,
  parseField,
  UTC,
} from '../../../web/format.ts';

test.each([
  [21.5, '21.5'],
  [72, '72'],
  [-3.25, '−3.25'],
  [1234.56, '1,234.6'],
  [98765.4, '98,765'],
  [0.01234, '0.0123'],
  [0, '0'],
  [4e12, '4.00e+12'],
  [-2e-7, '−2.00e−7'],
])('Number format: %d: shown as "%s"', (value, text) => expect(formatNumber(value)).toBe(text));

test('Number format: value null or undefined: shown as a dash', () => {
  expect(formatNumber(null)).toBe(NOTHING);
  expect(formatNumber(undefined)).toBe(NOTHING);
});

test('Number format: a negative number rounds to zero: shown without a minus sign', () => {
  expect(formatNumber(-0.001, 2)).toBe('0.00');
  expect(formatNumber(-0.4, 0)).toBe('0');
  expect(formatNumber(-0)).toBe('0');
  expect(formatNumber(-0.006, 2)).toBe('−0.01');
  expect(formatNumber(-10, 0)).toBe('−10');
});

test.each([
  [400, 'now'],
  [-800, 'now'],
  [12_900, '12 s'],
  [250_000, '4 min'],
  [3 * 3_600_000, '3 h'],
  [5 * 86_400_000, '5 d'],
  [-120_000, 'in 2 min'],
])('Time format: an age of %d ms: shown as "%s"', (ms, text) => expect(formatAge(ms)).toBe(text));

test.each([
  ['Asia/Kolkata', '2026-11-21T17:30:00', 'UTC+5:30'],
  ['America/St_Johns', '2026-11-21T08:30:00', 'UTC−3:30'],
  ['Europe/Berlin', '2026-11-21T13:00:00', 'UTC+1'],
  ['Europe/London', '2026-11-21T12:00:00', 'UTC'],
] as const)(
  'Named time zone %s: a time: written as %s, with the offset %s, and parsed back to the same time',
  (name, text, offset) => {
    const zone = createZone(name);
    const noon = Date.UTC(2026, 10, 21, 12);
    expect([formatField(noon, zone), formatZone(zone, noon), parseField(text, zone)]).toEqual([
      text,
      offset,
      noon,
    ]);
  },
);

test('Named time zone: summer time begins in Berlin: local time jumps from 02:00 to 03:00 at 01:00 UTC', () => {
  const change = Date.UTC(2026, 2, 29, 1);
  const berlin = createZone('Europe/Berlin');
  expect(formatField(change - 1000, berlin)).toBe('2026-03-29T01:59:59');
  expect(formatField(change, berlin)).toBe('2026-03-29T03:00:00');
  expect(parseField('2026-03-29T03:00:00', berlin)).toBe(change);
});

test('Named time zone: clock change between the time of a row and the present: the row shows its UTC offset', () => {
  const change = Date.UTC(2026, 9, 25, 1);
  const berlin = createZone('Europe/Berlin');
  const other = (ts: number) => otherZone(berlin, ts, change + 1000);
  expect([other(change - 1000), other(change)]).toEqual(['UTC+2', null]);
  expect(otherZone(UTC, change - 1000, change)).toBeNull();
});

test('Named time zone: text that is no zone name, such as Mars/Phobos: refused', () => {
  expect(['Mars/Phobos', 'utc', '', null, '<b>/'].map(isNamedZone)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});
