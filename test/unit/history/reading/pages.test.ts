import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Hour, Sensor } from '../../../../api/history/reading/hours.ts';
import { readPage } from '../../../../api/history/reading/pages.ts';
import { readAhead, type SampleSource } from '../../../../api/history/reading/samples.ts';

const HOUR = 3_600_000;
const FROM = Date.UTC(2026, 1, 3);

/** The most hours that one page reads, and how many of these hours it reads at once. */
const MAX_HOURS_A_PAGE = 768;
const HOURS_AT_ONCE = 32;

const sensor = { device: Buffer.alloc(16), sensor: Buffer.alloc(16), group: 0 } as Sensor;

/** A sensor's samples in memory, all of them packed, hour by hour. @param times epoch ms, ascending */
function createHistory(
  times: number[],
  {
    isCounted = true,
  }: {
    /** whether the number of samples of each hour is known (default true) */
    isCounted?: boolean;
  } = {},
) {
  const hourOf = (ts: number) => Math.floor(ts / HOUR) * HOUR;
  const reads: number[] = [];
  return {
    reads,
    lookUp: async (_sensor: Sensor, from: number, to: number) => {
      const hours: Hour[] = [];
      for (let hour = from; hour < to; hour += HOUR) {
        const count = isCounted ? times.filter((ts) => hourOf(ts) === hour).length : null;
        hours.push({ hour, packed: true, exact: null, count });
      }
      return hours;
    },
    source: {
      packed: {
        async readSamples(_sensor, from, to) {
          reads.push((to - from) / HOUR);
          const found = new Map();
          for (let hour = from; hour < to; hour += HOUR) {
            const own = times.filter((ts) => hourOf(ts) === hour);
            found.set(hour, [{ times: own, values: own.map((ts) => ts % 1000) }]);
          }
          return found;
        },
      },
      samples: { readHour: async () => ({ times: [], values: [] }) },
    } as SampleSource,
  };
}

/** All pages of a range, one after the other. */
async function readAll(
  history: ReturnType<typeof createHistory>,
  range: { from: number; to: number },
  order: 'asc' | 'desc',
  limit: number,
) {
  const pages = [];
  let left = range;
  for (;;) {
    const page = await readPage(history, sensor, left, { order, limit });
    pages.push(page);
    if (page.reached === null) return pages;
    left = order === 'asc' ? { ...left, from: page.reached } : { ...left, to: page.reached };
  }
}

test('Page of samples: any samples, limits and ranges: all pages together cover the range, and no page exceeds its limit', async () => {
  const samples = fc
    .uniqueArray(fc.integer({ min: 0, max: 40 * HOUR }), { maxLength: 60 })
    .map((offsets) => offsets.sort((a, b) => a - b).map((offset) => FROM + offset));
  await fc.assert(
    fc.asyncProperty(
      samples,
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom('asc', 'desc'),
      fc.tuple(fc.nat(40 * HOUR), fc.nat(40 * HOUR)),
      fc.boolean(),
      async (times, limit, order, [start, length], isCounted) => {
        const range = { from: FROM + start, to: FROM + start + length };
        const pages = await readAll(
          createHistory(times, { isCounted }),
          range,
          order as 'asc' | 'desc',
          limit,
        );
        const wanted = times.filter((ts) => ts >= range.from && ts < range.to);
        expect(pages.flatMap((page) => page.times)).toEqual(order === 'asc' ? wanted : wanted.reverse());
        expect(pages.flatMap((page) => page.values)).toEqual(wanted.map((ts) => ts % 1000));
        for (const page of pages.slice(0, -1)) expect(page.times).toHaveLength(limit);
        expect(pages.at(-1)?.reached).toBeNull();
      },
    ),
    { numRuns: 60 },
  );
});

test.each(['asc', 'desc'] as Array<'asc' | 'desc'>)(
  'Page of samples: order %s: more empty hours than a page reads: the page is empty, and reports how far it read',
  async (order) => {
    const range = { from: FROM, to: FROM + 2 * MAX_HOURS_A_PAGE * HOUR + 5 * HOUR };
    const history = createHistory([], { isCounted: false });
    const page = await readPage(history, sensor, range, { order, limit: 10 });
    expect(page.times).toEqual([]);
    const read = history.reads.reduce((sum, hours) => sum + hours, 0);
    expect(read).toBeGreaterThanOrEqual(MAX_HOURS_A_PAGE);
    expect(read).toBeLessThan(MAX_HOURS_A_PAGE + HOURS_AT_ONCE);
    expect(page.reached).toBe(order === 'asc' ? range.from + read * HOUR : range.to - read * HOUR);
  },
);

test('Page of samples: the number of samples per hour is unknown: one hour is read first, then twice as many each time', async () => {
  const history = createHistory([], { isCounted: false });
  const range = { from: FROM, to: FROM + 24 * HOUR };
  await readPage(history, sensor, range, { order: 'asc', limit: 10 });
  expect(history.reads.slice(0, 4)).toEqual([1, 2, 4, 8]);
});

test('Page of samples: the number of samples per hour is known: one read covers the hours of the page, plus one sample', async () => {
  const times = Array.from({ length: 24 }, (_, index) => FROM + index * HOUR);
  const history = createHistory(times);
  const range = { from: FROM, to: FROM + 24 * HOUR };
  const page = await readPage(history, sensor, range, { order: 'asc', limit: 5 });
  expect(page.times).toEqual(times.slice(0, 5));
  expect(history.reads).toEqual([6]);
});

async function readsOf(counts: Array<number | null>) {
  const reads: number[] = [];
  const source = {
    packed: {
      async readSamples(_sensor, from, to) {
        reads.push((to - from) / HOUR);
        return new Map();
      },
    },
    samples: { readHour: async () => ({ times: [], values: [] }) },
  } as SampleSource;
  async function* hours() {
    yield counts.map((count, index) => ({ hour: FROM + index * HOUR, packed: true, exact: null, count }));
  }
  let series = 0;
  for await (const _ of readAhead(source, sensor, hours())) series++;
  expect(series).toBe(counts.length);
  return reads;
}

test.each([
  ['hours of few samples: one read covers a whole day', Array(24).fill(100), [24]],
  ['hours of two days: one read covers each day', Array(30).fill(100), [24, 6]],
  ['hours of 15,000 samples: one read covers two hours', Array(5).fill(15_000), [2, 2, 1]],
  ['hours of 15,001 samples: one read covers one hour', Array(3).fill(15_001), [1, 1, 1]],
  ['hours with an unknown number of samples: one read covers four hours', Array(9).fill(null), [4, 4, 1]],
])('Export of samples: %s', async (_, counts, reads) => {
  expect(await readsOf(counts)).toEqual(reads);
});
