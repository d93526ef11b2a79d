import { describe, expect, test } from '@jest/globals';
import {
  decimalsFor,
  formatAge,
  formatCounted,
  formatDateTime,
  formatDuration,
  formatMs,
  formatNumber,
  formatRate,
  formatTimeMs,
  formatUnit,
  formatZone,
  hueOf,
  NOTHING,
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
  ])('%d: %s', (value, text) => expect(formatNumber(value)).toBe(text));

  test('unknown: a dash', () => {
    expect(formatNumber(null)).toBe(NOTHING);
    expect(formatNumber(undefined)).toBe(NOTHING);
    expect(formatMs(null)).toBe(NOTHING);
    expect(formatRate(undefined)).toBe(NOTHING);
  });

  test('a changing value: the decimals of earlier values', () => {
    const decimals = decimalsFor([21.37, 21.4, 22]);
    expect([21.37, 21.4, 22].map((value) => formatNumber(value, decimals))).toEqual([
      '21.37',
      '21.40',
      '22.00',
    ]);
  });

  test('close values: enough decimals to separate them', () => {
    expect(decimalsFor([52.50043, 52.50489])).toBe(5);
    expect(decimalsFor([72, 75, 81])).toBe(0);
  });

  test('rates and times to commit: a fixed number of decimals', () => {
    expect(formatRate(4210.4)).toBe('4,210');
    expect(formatRate(2.44)).toBe('2.4');
    expect(formatMs(2.44)).toBe('2.4');
    expect(formatMs(244.4)).toBe('244');
  });
});

test('Units: known ones: common symbols; unknown ones: unchanged', () => {
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
  ])('an age of %d ms: %s', (ms, text) => expect(formatAge(ms)).toBe(text));

  test('zone UTC: text', () => {
    const ts = Date.UTC(2026, 10, 21, 14, 3, 21, 250);
    expect(formatTimeMs(ts, 'utc')).toBe('14:03:21.250');
    expect(formatDateTime(ts, 'utc')).toBe('2026-11-21 14:03:21');
    expect(formatZone('utc', ts)).toBe('UTC');
  });

  test('local zone: text', () => {
    const local = new Date(2026, 10, 21, 14, 3, 21, 250);
    expect(formatTimeMs(local.getTime(), 'local')).toBe('14:03:21.250');
    expect(formatZone('local', local.getTime())).toMatch(/^UTC([+−]\d{1,2}(:\d\d)?)?$/);
  });
});

test('Hues: a type: always the same; classic types: each its own', () => {
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
])('Durations: %d ms: %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

test('Counts: one or many: singular or plural', () => {
  expect(formatCounted(1, 'sensor')).toBe('1 sensor');
  expect(formatCounted(0, 'sensor')).toBe('0 sensors');
  expect(formatCounted(12_000, 'process', 'processes')).toBe('12,000 processes');
});
