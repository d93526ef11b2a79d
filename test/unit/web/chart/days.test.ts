import { execFileSync } from 'node:child_process';
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

const module = new URL('../../../../web/chart/reader.ts', import.meta.url);
const format = new URL('../../../../web/format.ts', import.meta.url);
const hooks = new URL('../../../support/unit-runner/hooks.ts', import.meta.url);

/**
 * Evaluates the expression in a new process, because Node.js reads the time zone once, at the start.
 * @param expression of the module's exports
 */
function inBerlin(expression: string): Record<string, unknown> {
  const code = `
      import { register } from 'node:module';
      register(${JSON.stringify(hooks)});
      const days = await import(${JSON.stringify(module)});
      const { LOCAL } = await import(${JSON.stringify(format)});
      console.log(JSON.stringify(${expression}));
    `;
  const env = { ...process.env, TZ: 'Europe/Berlin' };
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], { env, encoding: 'utf8' }),
  );
}

test('Daily bins: zone with summer time: a year is read in three parts that meet at midnight', () => {
  const parts = inBerlin(`days.partsOfRange(${JSON.stringify(YEAR)}, LOCAL)`);
  expect(parts).toEqual([
    { from: YEAR.from, to: Date.UTC(2026, 2, 29, 22), offsetMs: HOUR },
    { from: Date.UTC(2026, 2, 29, 22), to: Date.UTC(2026, 9, 25, 23), offsetMs: 2 * HOUR },
    { from: Date.UTC(2026, 9, 25, 23), to: YEAR.to, offsetMs: HOUR },
  ]);
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
