import { expect, test } from '@jest/globals';
import { createLookUp } from '../../../../api/history/reading/hours.ts';
import type { HourRow } from '../../../../api/store/history/reads.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';

const SENSOR = { group: 3, device: Buffer.alloc(16, 1), sensor: Buffer.alloc(16, 2) };
const NEW_YEAR = Date.UTC(2026, 0);
const READ_FROM = NEW_YEAR + 2 * HOUR_MS;
const FIVE_MINUTES_MS = 5 * 60_000;

/** @param at hours after the new year */
const rowOf = (at: number, row: Partial<HourRow> = {}) => ({
  hour: NEW_YEAR + at * HOUR_MS,
  statistics: { count: 5, min: 1, max: 2, sum: 7, first: 1, last: 2 },
  readFrom: READ_FROM,
  lateAt: null,
  ...row,
});

/** @param hours after the new year */
async function lookUp(rows: HourRow[], { until, from, to }: { until: number; from: number; to: number }) {
  const asked: string[] = [];
  const look = createLookUp({
    packedUntil: async (group) => {
      asked.push(`group ${group}`);
      return NEW_YEAR + until * HOUR_MS;
    },
    readStatistics: async (_sensor, begin, end) => {
      asked.push(`hours ${(begin - NEW_YEAR) / HOUR_MS} to ${(end - NEW_YEAR) / HOUR_MS}`);
      return rows.filter(({ hour }) => hour >= begin && hour < end);
    },
  });
  const hours = await look(SENSOR, NEW_YEAR + from * HOUR_MS, NEW_YEAR + to * HOUR_MS);
  return { hours: hours.map((one) => ({ ...one, hour: (one.hour - NEW_YEAR) / HOUR_MS })), asked };
}

test('Look-up of hours: order of reads: packed_until before the statistics, with one query for each year', async () => {
  const { hours, asked } = await lookUp([rowOf(-1), rowOf(1)], { until: 9, from: -3, to: 5 });
  expect(asked).toEqual(['group 3', 'hours -3 to 0', 'hours 0 to 5']);
  expect(hours.map(({ hour }) => hour)).toEqual([-1, 1]);
});

test.each([
  ['no late sample: statistics are returned as exact', null, true],
  [
    'late sample over five minutes before the read: statistics are exact',
    READ_FROM - FIVE_MINUTES_MS - 1,
    true,
  ],
  ['late sample five minutes before the read: statistics are not exact', READ_FROM - FIVE_MINUTES_MS, false],
  ['late sample after the read: statistics are not exact', READ_FROM + 1, false],
])('Look-up of hours of a sensor: %s', async (_, lateAt, isExact) => {
  const row = rowOf(1, { lateAt });
  const { hours } = await lookUp([row], { until: 9, from: 0, to: 5 });
  expect(hours).toEqual([{ hour: 1, packed: true, exact: isExact ? row.statistics : null, count: 5 }]);
});

test('Look-up of hours: hours without statistics are not packed yet: returned as unpacked; others as packed', async () => {
  const { hours } = await lookUp([rowOf(0), rowOf(3)], { until: 2, from: 0, to: 5 });
  expect(hours.map(({ hour, packed }) => [hour, packed])).toEqual([
    [0, true],
    [2, false],
    [3, true],
    [4, false],
  ]);
});

test('Look-up of hours: rows of two years after the packing progress: hours without a row are filled in between', async () => {
  const { hours, asked } = await lookUp([rowOf(-4), rowOf(-2), rowOf(1)], { until: -3, from: -5, to: 3 });
  expect(asked.slice(1)).toEqual(['hours -5 to 0', 'hours 0 to 3']);
  expect(hours.map(({ hour, packed }) => [hour, packed])).toEqual([
    [-4, true],
    [-3, false],
    [-2, true],
    [-1, false],
    [0, false],
    [1, true],
    [2, false],
  ]);
});
