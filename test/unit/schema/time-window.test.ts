import { expect, test } from '@jest/globals';
import { DAY_MS, MIN_BATCH_DAYS } from '../../../schema/rules.ts';
import { checkWindow, MAX_TTL_SECONDS, TWCS_MAX_WINDOWS, windowFor } from '../../../schema/time-window.ts';

const DAY_S = DAY_MS / 1000;

test('Compaction windows: exactly 50 windows: allowed; one second more: refused', () => {
  expect(() => checkWindow({ ttlSeconds: 50 * DAY_S, windowDays: 1 })).not.toThrow();
  expect(() => checkWindow({ ttlSeconds: 50 * DAY_S + 1, windowDays: 1 })).toThrow(RangeError);
});

test('Compaction windows: a retention of 20 years: allowed; one day more: refused', () => {
  expect(windowFor(7300).ttlSeconds).toBe(MAX_TTL_SECONDS);
  expect(() => windowFor(7301)).toThrow(/20 years/);
});

test.each([0, -1, Number.NaN])('Compaction windows: a TTL of %p s: refused', (ttlSeconds) => {
  expect(() => checkWindow({ ttlSeconds, windowDays: 1 })).toThrow(RangeError);
});

test.each([0, Number.NaN])('Compaction windows: a window of %p days: refused', (windowDays) => {
  expect(() => checkWindow({ ttlSeconds: DAY_S, windowDays })).toThrow(RangeError);
});

test.each([0, -4, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'Compaction windows: a retention of %p days: refused',
  (days) => {
    expect(() => windowFor(days)).toThrow(RangeError);
  },
);

const retentions = Array.from({ length: 3650 - MIN_BATCH_DAYS + 1 }, (_, i) => i + MIN_BATCH_DAYS);
const windows = retentions.map((days) => {
  const { ttlSeconds, windowDays } = windowFor(days);
  return { days, ttlSeconds, windowDays, windows: ttlSeconds / DAY_S / windowDays };
});

test('Compaction windows: every allowed retention: windows of whole days, at most 50, and a TTL of the full retention', () => {
  const wrong = windows.filter(
    (one) =>
      one.windows > TWCS_MAX_WINDOWS ||
      one.ttlSeconds !== one.days * DAY_S ||
      !Number.isInteger(one.windowDays),
  );
  expect(wrong).toEqual([]);
});

test('Compaction windows: a retention of 20 to 30 days, or of 40 days or more: 20 to 30 windows', () => {
  const outside = windows.filter(({ windows: count }) => count < 20 || count > 30).map(({ days }) => days);
  expect(outside).toEqual(retentions.filter((days) => days < 20 || (days > 30 && days < 40)));
});

test('Compaction windows: a retention of one day: a window of a day', () => {
  expect(windowFor(1)).toEqual({ ttlSeconds: 86_400, windowDays: 1 });
});

test('Compaction windows: 50.5 windows: refused, and the error counts 51 windows', () => {
  expect(() => checkWindow({ ttlSeconds: 101 * 43_200, windowDays: 1 })).toThrow(
    '4363200 s of TTL are 51 windows of 1 days; 50 is the most',
  );
});
