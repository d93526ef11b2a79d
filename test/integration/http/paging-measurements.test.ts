import { beforeAll, describe, expect, test } from '@jest/globals';
import { pagesOf } from '../../support/http/pages.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A full hour of the recent past. Hours are the buckets of the storage. */
const NOON = Math.floor(Date.now() / HOUR) * HOUR - 20 * HOUR;

/** Limits reads to the last hours, because a year of empty hours takes long to read. */
const RECENT = `from=${NOON - 2 * HOUR}`;

const system = useTestSystem();
const device = useDevice(system);

/** @param name of a device */
const path = (name: string, query: string = '') => `/devices/${name}/sensors/s/measurements?${query}`;

/** @param samples one message */
const measure = (name: string, samples: Array<[ts: number, value: number]>) =>
  device.measure(
    name,
    samples.map(([ts, value]) => ({ sensor_id: 's', ts, value })),
  );

const read = (items: { ts: string; value: number }[]): Array<[ts: number, value: number]> =>
  items.map(({ ts, value }) => [Date.parse(ts), value]);

/** @param from epoch ms @param step ms */
const ramp = (count: number, from: number, step: number): Array<[ts: number, value: number]> =>
  Array.from({ length: count }, (_, i) => [from + i * step, i]);

describe('Raw samples: 60 samples in three hours', () => {
  const samples = ramp(60, NOON, 3 * 60_000);
  const timeOf = (index: number) => Number(samples[index]?.[0]);
  beforeAll(() => measure('steady', samples));

  test.each([1, 20, 30, 59, 60, 61, 1000])(
    'Pages of raw samples: limit %i, in both orders: each sample once',
    async (limit) => {
      const newestFirst = await pagesOf(system, path('steady', `${RECENT}&limit=${limit}`));
      expect(read(newestFirst.flat())).toEqual(samples.toReversed());
      const oldestFirst = await pagesOf(system, path('steady', `${RECENT}&limit=${limit}&order=asc`));
      expect(read(oldestFirst.flat())).toEqual(samples);
      for (const page of [...newestFirst, ...oldestFirst]) expect(page.length).toBeLessThanOrEqual(limit);
    },
  );

  test('Pages of raw samples: last page is full: no empty page follows', async () => {
    const range = `from=${NOON}&to=${NOON + 3 * HOUR}`;
    const pages = await pagesOf(system, path('steady', `${range}&limit=20`));
    expect(pages.map(({ length }) => length)).toEqual([20, 20, 20]);
  });

  test.each(['asc', 'desc'])(
    'Pages of raw samples: order %s: the range includes its start (from) and excludes its end (to)',
    async (order) => {
      const [first, next, last] = [timeOf(10), timeOf(11), timeOf(40)];
      const range = async (from: number, to: number) => {
        const pages = await pagesOf(system, path('steady', `order=${order}&from=${from}&to=${to}&limit=7`));
        return read(pages.flat()).sort(([a], [b]) => a - b);
      };
      expect(await range(first, last)).toEqual(samples.slice(10, 40));
      expect(await range(first, last + 1)).toEqual(samples.slice(10, 41));
      expect(await range(first + 1, last)).toEqual(samples.slice(11, 40));
      expect(await range(first, next)).toEqual(samples.slice(10, 11));
      expect(await range(first, first)).toEqual([]);
      expect(await range(NOON + HOUR, NOON + 2 * HOUR)).toEqual(samples.slice(20, 40));
    },
  );

  test.each([
    ['in the future', Date.now() + DAY, Date.now() + 2 * DAY],
    ['before retention', NOON - 900 * DAY, NOON - 800 * DAY],
    ['before the first sample', NOON - 3 * DAY, NOON],
    ['of no length', NOON, NOON],
  ])('Pages of raw samples: range %s: no sample', async (_, from, to) => {
    for (const order of ['asc', 'desc']) {
      const pages = await pagesOf(system, path('steady', `from=${from}&to=${to}&order=${order}`));
      expect(pages.flat()).toEqual([]);
    }
  });

  test.each(['asc', 'desc'])(
    'Pages of raw samples: range of a thousand years, %s: each sample, in few pages',
    async (order) => {
      const query = `from=1526-01-01T00:00:00Z&to=2526-01-01T00:00:00Z&order=${order}&limit=1000`;
      const pages = await pagesOf(system, path('steady', query));
      expect(read(pages.flat()).sort(([a], [b]) => a - b)).toEqual(samples);
      expect(pages.length).toBeLessThan(20);
    },
  );
});

test('Pages of raw samples: two messages have samples with equal times: each time once, with the greater value', async () => {
  const first = ramp(40, NOON, 1000);
  const second = ramp(40, NOON + 20_000, 1000);
  await measure('overlap', first);
  await measure('overlap', second);
  const expected = new Map(first);
  for (const [ts, value] of second) expected.set(ts, Math.max(value, expected.get(ts) ?? value));
  for (const limit of [19, 20, 21, 39, 40, 41]) {
    const pages = await pagesOf(system, path('overlap', `${RECENT}&order=asc&limit=${limit}`));
    expect(read(pages.flat())).toEqual([...expected]);
    const reversed = await pagesOf(system, path('overlap', `${RECENT}&limit=${limit}`));
    expect(read(reversed.flat())).toEqual([...expected].reverse());
  }
});

test.each(['asc', 'desc'])(
  'Pages of raw samples: new samples arrive between pages, order %s: each older sample once',
  async (order) => {
    const name = `growing-${order}`;
    const samples = ramp(30, NOON, 60_000);
    await measure(name, samples);
    const pages = await pagesOf(system, path(name, `${RECENT}&order=${order}&limit=7`), (page) =>
      measure(name, [
        [NOON - page * 1000, -1],
        [NOON + 15 * 60_000 + page * 1000, -2],
        [NOON + 2 * HOUR + page * 1000, -3],
      ]),
    );
    const seen = read(pages.flat());
    const times = seen.map(([ts]) => ts);
    expect(times).toEqual([...new Set(times)].sort((a, b) => (order === 'asc' ? a - b : b - a)));
    expect(seen).toEqual(expect.arrayContaining(samples));
  },
);

test('Pages of raw samples: gaps of months: fewer than 20 pages, in both orders', async () => {
  const samples = [
    [NOON - 200 * DAY, 1],
    [NOON - 90 * DAY, 2],
    [NOON, 3],
  ] as Array<[number, number]>;
  await measure('gap', samples);
  for (const order of ['asc', 'desc']) {
    const pages = await pagesOf(system, path('gap', `order=${order}&limit=2`));
    expect(read(pages.flat()).sort(([a], [b]) => a - b)).toEqual(samples);
    expect(pages.length).toBeLessThan(20);
  }
});

test('Pages of raw samples: sensor has no sample: answers 200 with an empty list', async () => {
  await device.birth('newborn', { sensors: [{ sensor_id: 's' }] });
  expect(await system.get(path('newborn'))).toEqual({ items: [], next: null });
});
