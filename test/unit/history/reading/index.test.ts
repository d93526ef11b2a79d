import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Bins } from '../../../../api/history/reading/bins.ts';
import { uniformGrid } from '../../../../api/history/reading/grid.ts';
import { createReading } from '../../../../api/history/reading/index.ts';
import { createMemoryPath, HOUR, samplesOf } from '../../../support/history/memory-path.ts';

const HOUR_MS = 3_600_000;
const SENSOR = { group: 3, device: Buffer.alloc(16, 1), sensor: Buffer.alloc(16, 2) };

let now = 1000;
beforeEach(() => {
  now = 1000;
});
afterEach(() => {
  jest.restoreAllMocks();
});

function createReadingOf() {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const asked: Array<{ group: number; answer: (packedUntil: number) => void; fail: (error: Error) => void }> =
    [];
  const store = {
    packed: { readStatistics: async () => [] },
    packProgress: {
      read: (group: number) =>
        new Promise((resolve, reject) => {
          asked.push({ group, answer: (packedUntil) => resolve({ packedUntil }), fail: reject });
        }),
    },
  } as never;
  const reading = createReading(store);
  const range = { from: HOUR, to: HOUR + 2 * HOUR_MS };
  return {
    asked,
    /** Looks up two hours. @returns how many of these hours may have samples */
    async hours(group: number = 3): Promise<number> {
      let count = 0;
      for await (const hours of reading.hours({ ...SENSOR, group }, range, 'asc', 2 * HOUR_MS))
        count += hours.length;
      return count;
    },
  };
}

test('Reading history: progress of packing: read from the database once in 5 s for each device group', async () => {
  const { asked, hours } = createReadingOf();
  const first = hours();
  const second = hours();
  asked[0]?.answer(HOUR);
  expect(await Promise.all([first, second])).toEqual([2, 2]);
  now += 4999;
  expect(await hours()).toBe(2);
  const other = hours(4);
  asked[1]?.answer(HOUR + HOUR_MS);
  expect(await other).toBe(1);
  expect(asked.map(({ group }) => group)).toEqual([3, 4]);
  now += 1;
  const later = hours();
  asked[2]?.answer(HOUR + 2 * HOUR_MS);
  expect(await later).toBe(0);
});

test('Reading history: an old request for the packing progress fails after a newer one succeeded: the newer answer is kept', async () => {
  const { asked, hours } = createReadingOf();
  const old = hours();
  now += 5000;
  const newer = hours();
  asked[1]?.answer(HOUR);
  await newer;
  asked[0]?.fail(new Error('away'));
  await expect(old).rejects.toThrow('away');
  expect(await hours()).toBe(2);
  expect(asked).toHaveLength(2);
});

test('Reading history: part of an hour arrives late: series, pages, hours and aligned bins have all 25 samples', async () => {
  const path = await createMemoryPath();
  const samples = samplesOf(HOUR, 25);
  await path.send('device', samples.slice(0, 20));
  path.clock.now = HOUR + 2 * HOUR_MS;
  await path.packer().packDue();
  path.clock.now += 60_000;
  await path.send('device', samples.slice(20));
  const reading = createReading(path.store);
  const sensor = path.keyOf('device');
  const range = { from: HOUR, to: HOUR + HOUR_MS };
  const { signal } = new AbortController();

  const chunks = [];
  for await (const hours of reading.hours(sensor, range, 'asc', HOUR_MS)) chunks.push(hours);
  expect(chunks).toEqual([[expect.objectContaining({ hour: HOUR })]]);

  const series = [];
  for await (const one of reading.all(sensor, range, 'asc', signal)) series.push(one);
  const [read] = await reading.samplesOf(sensor, chunks[0] ?? []);
  for (const { times, values } of [...series, read ?? { times: [], values: [] }])
    expect([...times].map((ts, at) => ({ ts, value: values[at] }))).toEqual(samples);
  expect(series).toHaveLength(1);

  const page = await reading.page(sensor, range, { order: 'desc', limit: 3 });
  expect(page.times).toEqual([24, 23, 22].map((second) => HOUR + second * 1000));
  const { points } = await reading.series(sensor, range, { points: 60, newest: range.to });
  expect(points.map(({ count }) => count)).toEqual([25]);
  const grid = uniformGrid(range, HOUR_MS);
  const bins = new Bins(range, grid);
  await reading.bins(sensor, range, { grid, bins, newest: range.to, signal });
  expect(bins.column('count')).toEqual([25]);
});
