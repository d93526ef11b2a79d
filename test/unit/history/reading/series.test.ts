import { describe, expect, test } from '@jest/globals';
import type { Hour, Sensor } from '../../../../api/history/reading/hours.ts';
import type { SampleSource } from '../../../../api/history/reading/samples.ts';
import { readSeries } from '../../../../api/history/reading/series.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FROM = Date.UTC(2026, 1, 3);

const sensor = { device: Buffer.alloc(16), sensor: Buffer.alloc(16), group: 0 } as Sensor;

function createHistory({
  times,
  isExact = true,
  isPacked = true,
}: {
  /** epoch ms (default: the starts of the hours) */
  times?: number[];
  /** whether the statistics of each hour are exact (default true) */
  isExact?: boolean;
  /** (default true) */
  isPacked?: boolean;
} = {}) {
  const own = (hour: number) => (times ? times.filter((ts) => ts >= hour && ts < hour + HOUR) : [hour]);
  /** Requests by the kind of their source. */
  const reads = { cached: 0, scans: 0, unpacked: 0 };
  const sourceOf = (kind: 'cached' | 'scans') =>
    ({
      packed: {
        async readSamples(_sensor, from, to) {
          reads[kind]++;
          const found = new Map();
          for (let hour = from; isPacked && hour < to; hour += HOUR)
            found.set(hour, [{ times: own(hour), values: own(hour).map((ts) => (ts - FROM) / HOUR) }]);
          return found;
        },
      },
      samples: {
        async readHour(_device, _sensor, hour) {
          reads.unpacked++;
          const inside = own(Math.floor(hour / HOUR) * HOUR);
          return { times: inside, values: inside.map((ts) => (ts - FROM) / HOUR) };
        },
      },
    }) as SampleSource;
  return {
    reads,
    source: { ...sourceOf('cached'), scans: sourceOf('scans') },
    lookUp: async (_sensor: Sensor, from: number, to: number) => {
      const hours: Hour[] = [];
      for (let hour = from; hour < to; hour += HOUR) {
        const value = (hour - FROM) / HOUR;
        const statistics = { count: 1, min: value, max: value, sum: value, first: value, last: value };
        hours.push({
          hour,
          packed: isPacked,
          exact: isExact && isPacked ? statistics : null,
          count: isPacked ? 1 : null,
        });
      }
      return hours;
    },
  };
}

const read = (history: ReturnType<typeof createHistory>, from: number, to: number, options?: object) =>
  readSeries(history, sensor, { from, to }, { points: 4, newest: to, ...options });

const countOf = ({ points }: Awaited<ReturnType<typeof read>>) =>
  points.reduce((sum, { count }) => sum + count, 0);

test('Series of points: whole hours with exact statistics: no sample is read', async () => {
  const history = createHistory();
  const shape = await read(history, FROM, FROM + DAY);
  expect(countOf(shape)).toBe(24);
  expect(shape.source).toBe('statistics');
  expect(history.reads).toEqual({ cached: 0, scans: 0, unpacked: 0 });
});

test.each([
  ['begins', FROM + 1, FROM + DAY, 23],
  ['ends', FROM, FROM + DAY - 1, 24],
])(
  'Series of points: the time range %s within an hour: samples outside the range are not counted',
  async (_, from, to, count) => {
    const history = createHistory();
    const shape = await read(history, from, to);
    expect(countOf(shape)).toBe(count);
    expect(history.reads).toEqual({ cached: 1, scans: 0, unpacked: 0 });
  },
);

test('Series of points: statistics are not exact: samples of packed hours are read only from history', async () => {
  const history = createHistory({ isExact: false });
  expect(countOf(await read(history, FROM, FROM + DAY))).toBe(24);
  expect(history.reads.unpacked).toBe(0);
  expect(history.reads.cached).toBeGreaterThan(0);
});

describe('Series: only samples', () => {
  const points = 2000;

  test('Series of points: samples over two days: read through the cache of the database', async () => {
    const history = createHistory();
    await read(history, FROM, FROM + 2 * DAY, { points });
    expect(history.reads.scans).toBe(0);
    expect(history.reads.cached).toBeGreaterThan(0);
  });

  test('Series of points: samples over more than two days: read past the cache of the database', async () => {
    const history = createHistory();
    await read(history, FROM, FROM + 2 * DAY + 1, { points });
    expect(history.reads.cached).toBe(0);
    expect(history.reads.scans).toBeGreaterThan(0);
  });
});

test('Series of points: the sum of an hour exceeds the range of a double: its samples are read', async () => {
  const history = createHistory();
  const { lookUp } = history;
  const endless = async (...args: Parameters<typeof lookUp>) =>
    (await lookUp(...args)).map((hour) => ({
      ...hour,
      exact: hour.exact && { ...hour.exact, sum: Number.POSITIVE_INFINITY },
    }));
  const shape = await read({ ...history, lookUp: endless }, FROM, FROM + 2 * HOUR, { points: 1 });
  expect(shape).toMatchObject({ source: 'samples', points: [{ count: 2, avg: 0.5 }] });
});
