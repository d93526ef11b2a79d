import { expect, test } from '@jest/globals';
import { chunksOf, type LookUp, type Order } from '../../../../api/history/reading/hours.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY = Date.UTC(2020, 0);
const SENSOR = { group: 0, device: Buffer.alloc(16, 1), sensor: Buffer.alloc(16, 2) };

/**
 * @param from ms after `DAY`
 * @param to ms after `DAY`
 * @param length ms
 * @returns the ranges that were looked up, in hours after `DAY`
 */
async function stretches(
  from: number,
  to: number,
  order: Order = 'asc',
  length?: number,
): Promise<Array<[number, number]>> {
  const asked: Array<[number, number]> = [];
  const lookUp: LookUp = async (_sensor, begin, end) => {
    asked.push([(begin - DAY) / HOUR_MS, (end - DAY) / HOUR_MS]);
    return [];
  };
  for await (const _ of chunksOf(lookUp, SENSOR, { from: DAY + from, to: DAY + to }, order, length)) {
    // The loop only drives the look-ups.
  }
  return asked;
}

test.each([
  ['is a whole hour', HOUR_MS, 2 * HOUR_MS, [1, 2]],
  ['lies within an hour', HOUR_MS + 5, HOUR_MS + 6, [1, 2]],
  ['ends a millisecond after an hour', HOUR_MS, 2 * HOUR_MS + 1, [1, 3]],
  ['begins a millisecond before an hour', HOUR_MS - 1, 2 * HOUR_MS, [0, 2]],
] as Array<[string, number, number, [number, number]]>)(
  'Chunks of a time range: range %s: exactly the hours that the range touches are looked up',
  async (_, from, to, expected) => {
    expect(await stretches(from, to)).toEqual([expected]);
    expect(await stretches(from, to, 'desc')).toEqual([expected]);
  },
);

test('Chunks of a time range: 1,082 days: the first chunk spans 4 days, each further one four times more, at most 366', async () => {
  const days = 4 + 16 + 64 + 256 + 366 + 366 + 10;
  const hours = (await stretches(0, days * DAY_MS)).map(([from, to]) => [from / 24, to / 24]);
  expect(hours).toEqual([
    [0, 4],
    [4, 20],
    [20, 84],
    [84, 340],
    [340, 706],
    [706, 1072],
    [1072, 1082],
  ]);
});

test.each([
  ['asc', [1, 2]],
  ['desc', [2, 1]],
] as Array<[Order, number[]]>)(
  'Chunks of a time range: order %s: found hours are returned in that order',
  async (order, expected) => {
    const found = [1, 2].map((hour) => ({ hour, packed: true, exact: null, count: null }));
    const hours = [];
    for await (const some of chunksOf(
      async () => [...found],
      SENSOR,
      { from: DAY, to: DAY + DAY_MS },
      order,
    )) {
      hours.push(...some.map(({ hour }) => hour));
    }
    expect(hours).toEqual(expected);
  },
);
