import { expect, test } from '@jest/globals';
import { DAY_MS, daysOf, isDaily, partsOfRange, startOfDay } from '../../../../web/chart/reader.ts';
import { createZone, UTC } from '../../../../web/format.ts';

const HOUR = 3_600_000;
const YEAR = { from: Date.UTC(2026, 0, 10, 7), to: Date.UTC(2027, 0, 10, 7) };

test('Daily bins: zone UTC: a range is read in one request, and each day that the range touches is counted', () => {
  expect(partsOfRange(YEAR, UTC)).toEqual([{ ...YEAR, offsetMs: 0 }]);
  expect(daysOf({ ...YEAR, offsetMs: 0 })).toBe(366);
  expect(daysOf({ from: 0, to: DAY_MS, offsetMs: 0 })).toBe(1);
  expect(daysOf({ from: 0, to: DAY_MS, offsetMs: HOUR })).toBe(2);
  expect(startOfDay(YEAR.from, UTC, 31)).toBe(Date.UTC(2026, 1, 10));
});

test.each(['America/Santiago', 'America/Havana', 'Atlantic/Azores'])(
  'Daily bins: zone %s, where a clock change skips a midnight: days follow one another without gap or overlap',
  (name) => {
    const zone = createZone(name as never);
    const starts = Array.from({ length: 365 }, (_, day) => startOfDay(Date.UTC(2026, 0, 1 + day, 12), zone));
    const ends = starts.map((start) => startOfDay(start, zone, 1));
    expect(ends.slice(0, -1)).toEqual(starts.slice(1));
    expect(starts.every((start, day) => start < Number(ends[day]))).toBe(true);
    const parts = partsOfRange(YEAR, zone);
    expect(parts).toHaveLength(3);
    for (const [index, { from }] of parts.slice(1).entries()) expect(from).toBe(parts[index]?.to);
  },
);

test('Daily bins: chart range of 61 to 1990 days: daily bins are used; shorter or longer range: other bins', () => {
  expect([60, 61, 365, 1990, 1991].map((days) => isDaily(days * DAY_MS))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});
