import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { candidates, instantNear } from '../../../common/zones.ts';

const DAY_MS = 86_400_000;
const ZONES = Intl.supportedValuesOf('timeZone');

const utc = (text: string) => Date.parse(`${text}Z`);
const texts = (instants: number[]) => instants.map((ms) => new Date(ms).toISOString().slice(0, 19));

const formats: Map<string, Intl.DateTimeFormat> = new Map();

/** Reads the offset that Node.js prints, unlike the tested code. @param time epoch ms @returns ms */
function printedOffset(time: number, zone: string): number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset', hour: 'numeric' });
  formats.set(zone, format);
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(time)) ?? [];
  return (
    (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 || 0
  );
}

/** @param from epoch ms @param to epoch ms */
function changesOf(
  zone: string,
  from: number,
  to: number,
): Array<{ at: number; before: number; after: number }> {
  const changes = [];
  for (let day = from; day < to; day += DAY_MS) {
    const [before, after] = [printedOffset(day, zone), printedOffset(day + DAY_MS, zone)];
    if (before === after) continue;
    let [low, high] = [day, day + DAY_MS];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (printedOffset(middle, zone) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, before, after });
  }
  return changes;
}

test('Local time: every change of clocks of every zone in 2025 and 2026: each local time around it has its instants', () => {
  let twice = 0;
  let skipped = 0;
  for (const zone of ZONES) {
    for (const { at, before, after } of changesOf(zone, utc('2025-01-01T00:00'), utc('2027-01-01T00:00'))) {
      const [first, last] = [at + Math.min(before, after), at + Math.max(before, after) - 1];
      expect(candidates(first - 1, zone)).toEqual([first - 1 - before]);
      expect(candidates(last + 1, zone)).toEqual([last + 1 - after]);
      for (const local of [first, first + 60_000, last]) {
        const both = [local - before, local - after].sort((one, other) => one - other);
        const isTwice = after < before;
        if (isTwice) twice++;
        else skipped++;
        expect(candidates(local, zone)).toEqual(isTwice ? both : []);
        for (const instant of both) {
          for (const delay of [-5000, 0, 900_000 - 1])
            expect(instantNear(local, zone, instant + delay)).toBe(instant);
        }
      }
    }
  }
  expect(Math.min(twice, skipped)).toBeGreaterThan(500);
});

test('Local time: any instant of any zone since 1970: it is one of the instants of its local time', () => {
  const instant = fc.integer({ min: 0, max: utc('2038-01-01T00:00') });
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), instant, (zone, time) => {
      const local = time + printedOffset(time, zone);
      expect(candidates(local, zone)).toContain(time);
      expect(instantNear(local, zone, time)).toBe(time);
    }),
  );
});

test.each([
  [
    'twice, in the north',
    '2026-10-25T02:30:00',
    'Europe/Berlin',
    ['2026-10-25T00:30:00', '2026-10-25T01:30:00'],
  ],
  [
    'twice, west of UTC',
    '2026-11-01T01:30:00',
    'America/New_York',
    ['2026-11-01T05:30:00', '2026-11-01T06:30:00'],
  ],
  [
    'twice, a step of 30 min',
    '2026-04-05T01:45:00',
    'Australia/Lord_Howe',
    ['2026-04-04T14:45:00', '2026-04-04T15:15:00'],
  ],
  ['skipped, at midnight', '2026-09-06T00:30:00', 'America/Santiago', []],
  [
    'twice, another zone without summer time',
    '2020-12-27T01:30:00',
    'Europe/Volgograd',
    ['2020-12-26T21:30:00', '2020-12-26T22:30:00'],
  ],
  ['skipped, a whole day at the date line', '2011-12-30T12:00:00', 'Pacific/Apia', []],
  ['once, an offset of 45 min', '2026-07-01T12:00:00', 'Asia/Kathmandu', ['2026-07-01T06:15:00']],
  ['once, UTC', '2026-07-01T12:00:00', 'UTC', ['2026-07-01T12:00:00']],
])('Local time %s: %s in %s: the instants are %j', (_, local, zone, expected) => {
  expect(texts(candidates(utc(local), zone))).toEqual(expected);
});

test('Local time: beyond the range of dates: returned as it is', () => {
  for (const time of [8.64e15, -8.64e15, 1e18]) {
    expect([candidates(time, 'Europe/Berlin'), instantNear(time, 'Europe/Berlin', 0)]).toEqual([
      [time],
      time,
    ]);
  }
});
