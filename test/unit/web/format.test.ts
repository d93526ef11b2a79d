import { describe, expect, test } from '@jest/globals';
import {
  createZone,
  decimalsFor,
  formatAge,
  formatChange,
  formatCounted,
  formatDateTime,
  formatDuration,
  formatField,
  formatMs,
  formatNumber,
  formatRate,
  formatTimeMs,
  formatUnit,
  formatZone,
  hueOf,
  isNamedZone,
  LOCAL,
  NOTHING,
  otherZone,
  parseField,
  UTC,
} from '../../../web/format.ts';

describe('Numbers', () => {
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
  ])('Number format: %d is shown as "%s"', (value, text) => expect(formatNumber(value)).toBe(text));

  test('Number format: value null or undefined: shown as a dash', () => {
    expect(formatNumber(null)).toBe(NOTHING);
    expect(formatNumber(undefined)).toBe(NOTHING);
    expect(formatMs(null)).toBe(NOTHING);
    expect(formatRate(undefined)).toBe(NOTHING);
  });

  test('Number format: several values: each value has as many decimals as the most precise value', () => {
    const decimals = decimalsFor([21.37, 21.4, 22]);
    expect([21.37, 21.4, 22].map((value) => formatNumber(value, decimals))).toEqual([
      '21.37',
      '21.40',
      '22.00',
    ]);
  });

  test('Number format: a negative number rounds to zero: shown without a minus sign', () => {
    expect(formatNumber(-0.001, 2)).toBe('0.00');
    expect(formatNumber(-0.4, 0)).toBe('0');
    expect(formatNumber(-0)).toBe('0');
    expect(formatNumber(-0.006, 2)).toBe('−0.01');
    expect(formatNumber(-10, 0)).toBe('−10');
  });

  test('Number format: change of a value: shown with plus or minus sign, unless the change rounds to zero', () => {
    expect(formatChange(0.3, 1)).toBe('+0.3');
    expect(formatChange(-0.3, 1)).toBe('−0.3');
    expect(formatChange(0.04, 1)).toBe('0.0');
    expect(formatChange(-0.04, 1)).toBe('0.0');
    expect(formatChange(0, 0)).toBe('0');
    expect(formatChange(2e-5, 4)).toBe('+2.00e−5');
  });

  test('Number format: values that differ little: enough decimals to distinguish the values', () => {
    expect(decimalsFor([52.50043, 52.50489])).toBe(5);
    expect(decimalsFor([72, 75, 81])).toBe(0);
  });

  test('Number format: rates and milliseconds: one decimal below 10, none for large values', () => {
    expect(formatRate(4210.4)).toBe('4,210');
    expect(formatRate(2.44)).toBe('2.4');
    expect(formatMs(2.44)).toBe('2.4');
    expect(formatMs(244.4)).toBe('244');
  });
});

test('Unit format: a known SenML unit: its common symbol; an unknown unit: unchanged', () => {
  expect(formatUnit('Cel')).toBe('°C');
  expect(formatUnit('beat/min')).toBe('bpm');
  expect(formatUnit('furlong')).toBe('furlong');
  expect(formatUnit(null)).toBe('');
  expect(formatUnit('constructor')).toBe('constructor');
});

describe('Times', () => {
  test.each([
    [400, 'now'],
    [-800, 'now'],
    [12_900, '12 s'],
    [250_000, '4 min'],
    [3 * 3_600_000, '3 h'],
    [5 * 86_400_000, '5 d'],
    [-120_000, 'in 2 min'],
  ])('Time format: an age of %d ms is shown as "%s"', (ms, text) => expect(formatAge(ms)).toBe(text));

  test('Time format: zone UTC: time, date and zone are written in UTC', () => {
    const ts = Date.UTC(2026, 10, 21, 14, 3, 21, 250);
    expect(formatTimeMs(ts, UTC)).toBe('14:03:21.250');
    expect(formatDateTime(ts, UTC)).toBe('2026-11-21 14:03:21');
    expect(formatZone(UTC, ts)).toBe('UTC');
  });

  test('Time format: local zone: local time, with the offset from UTC', () => {
    const local = new Date(2026, 10, 21, 14, 3, 21, 250);
    expect(formatTimeMs(local.getTime(), LOCAL)).toBe('14:03:21.250');
    expect(formatZone(LOCAL, local.getTime())).toMatch(/^UTC([+−]\d{1,2}(:\d\d)?)?$/);
  });
});

test('Colors of sensor types: four common types have distinct hues; any other type has one of four further hues', () => {
  const classic = ['temperature', 'pulse', 'location', 'respiration'].map(hueOf);
  expect(new Set(classic).size).toBe(4);
  expect(hueOf('Temperature')).toBe(hueOf('temperature'));
  expect(hueOf('humidity')).toBeGreaterThanOrEqual(5);
  expect(hueOf('humidity')).toBeLessThanOrEqual(8);
  expect(hueOf(null)).toBe(0);
});

test.each([
  [0, '0 ms'],
  [250, '250 ms'],
  [48_900, '48 s'],
  [200_000, '3 min 20 s'],
  [180_500, '3 min'],
  [3_600_000, '1 h'],
  [100 * 3_600_000 + 60_000, '4 d 4 h'],
])('Duration format: %d ms is shown as "%s"', (ms, text) => expect(formatDuration(ms)).toBe(text));

test('Count format: count 1: noun in the singular; count 0 or more than 1: noun in the plural', () => {
  expect(formatCounted(1, 'sensor')).toBe('1 sensor');
  expect(formatCounted(0, 'sensor')).toBe('0 sensors');
  expect(formatCounted(12_000, 'process', 'processes')).toBe('12,000 processes');
});

describe('Named time zones', () => {
  test.each([
    ['Asia/Kolkata', '2026-11-21T17:30:00', 'UTC+5:30'],
    ['America/St_Johns', '2026-11-21T08:30:00', 'UTC−3:30'],
    ['Europe/Berlin', '2026-11-21T13:00:00', 'UTC+1'],
    ['Europe/London', '2026-11-21T12:00:00', 'UTC'],
  ] as const)(
    'Named time zone %s: a time is written as %s, with the offset %s, and parsed back to the same time',
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
});
