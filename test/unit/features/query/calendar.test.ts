import { describe, expect, test } from '@jest/globals';
import { calendarGrid, mostCalendarBins } from '../../../../api/features/query/calendar.ts';
import type { Grid } from '../../../../api/history/reading/grid.ts';
import { isZone } from '../../../../common/zones.ts';

const HOUR = 3_600_000;

/** @returns the starts of its bins, and the end of the last */
const edgesOf = ({ length, startOf }: Grid): string[] =>
  Array.from({ length: length + 1 }, (_, index) => new Date(startOf(index)).toISOString());

test('Calendar bins: days of the two clock changes in Berlin: one bin has 23 hours, the other 25', () => {
  const spring = calendarGrid(
    { from: Date.UTC(2026, 2, 28), to: Date.UTC(2026, 2, 30) },
    'day',
    'Europe/Berlin',
  );
  expect(edgesOf(spring)).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
    '2026-03-30T22:00:00.000Z',
  ]);
  const autumn = calendarGrid(
    { from: Date.UTC(2026, 9, 25), to: Date.UTC(2026, 9, 26) },
    'day',
    'Europe/Berlin',
  );
  expect(edgesOf(autumn)).toEqual([
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
    '2026-10-26T23:00:00.000Z',
  ]);
});

test('Calendar bins: weeks and months: weeks begin on Monday, months on the first day', () => {
  const range = { from: Date.UTC(2026, 0, 31), to: Date.UTC(2026, 3, 1, 5) };
  expect(edgesOf(calendarGrid(range, 'month', 'America/New_York'))).toEqual([
    '2026-01-01T05:00:00.000Z',
    '2026-02-01T05:00:00.000Z',
    '2026-03-01T05:00:00.000Z',
    '2026-04-01T04:00:00.000Z',
    '2026-05-01T04:00:00.000Z',
  ]);
  const week = { from: Date.UTC(2026, 10, 22), to: Date.UTC(2026, 10, 24) };
  expect(edgesOf(calendarGrid(week, 'week', 'utc'))).toEqual([
    '2026-11-16T00:00:00.000Z',
    '2026-11-23T00:00:00.000Z',
    '2026-11-30T00:00:00.000Z',
  ]);
});

test.each(['day', 'week', 'month'] as const)(
  'Calendar bins: unit %s: each instant falls into the bin that contains it',
  (unit) => {
    const range = { from: Date.UTC(2025, 5, 17, 3), to: Date.UTC(2026, 10, 3, 9) };
    const grid = calendarGrid(range, unit, 'Europe/Berlin');
    expect(grid.length).toBeLessThanOrEqual(mostCalendarBins(range, unit));
    for (let step = 0; step < 3000; step++) {
      const ts = range.from + ((step * 7_654_321_987) % (range.to - range.from));
      const index = grid.indexOf(ts);
      expect(ts >= grid.startOf(index) && ts < grid.startOf(index + 1)).toBe(true);
    }
    for (let index = 0; index < grid.length; index++) {
      expect(grid.indexOf(grid.startOf(index))).toBe(index);
      expect(grid.startOf(index + 1) - grid.startOf(index)).toBeGreaterThanOrEqual(grid.narrowest);
    }
  },
);

test('Time zone of calendar bins: name that the IANA database lacks: refused', () => {
  expect(['Europe/Berlin', 'UTC', 'Mars/Base', ''].map(isZone)).toEqual([true, true, false, false]);
});

describe('Grid: widths', () => {
  const range = { from: Date.UTC(2026, 5, 1), to: Date.UTC(2026, 5, 29) };

  test.each([
    ['day', 22 * HOUR, 28, 32],
    ['week', 166 * HOUR, 4, 6],
    ['month', 670 * HOUR, 1, 3],
  ] as const)(
    'Calendar bins: unit %s, 28 days from June 1: no bin too many',
    (unit, narrowest, length, most) => {
      expect(calendarGrid(range, unit, 'utc')).toMatchObject({ length, narrowest });
      expect(mostCalendarBins(range, unit)).toBe(most);
    },
  );
});
