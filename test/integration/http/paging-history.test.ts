import { beforeAll, describe, expect, test } from '@jest/globals';
import { bucketOf, DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { Fate, Sample } from '../../support/history/index.ts';
import { pagesOf } from '../../support/http/pages.ts';
import { useHistorySystem } from '../../support/system/history.ts';

/** Some weeks ago, so that the clock can move forward by days. */
const BEGIN = bucketOf(Date.now() - 30 * DAY_MS);

const world = useHistorySystem(BEGIN);
const { clock } = world;

const path = (name: string, query: string) => `/devices/${name}/sensors/s/measurements?${query}`;

const read = (items: { ts: string; value: number }[]): Sample[] =>
  items.map(({ ts, value }) => [Date.parse(ts), value]);

/** @param hour epoch ms @returns spread over the hour, its first and its last millisecond among them */
const spread = (hour: number, count: number, value: number): Sample[] =>
  Array.from({ length: count }, (_, i) => [
    hour + Math.floor((i * (HOUR_MS - 1)) / Math.max(1, count - 1)),
    value + i / 100,
  ]);

/** @param expected in order of time */
function expectAll(pages: { ts: string; value: number }[][], order: string, expected: Sample[]) {
  expect(read(pages.flat())).toEqual(order === 'asc' ? expected : expected.toReversed());
}

const ORDERS = ['asc', 'desc'];

describe('Raw samples: hours in every stored form', () => {
  const fates: Fate[] = [
    ...Array(7).fill('packed'),
    ...Array(30).fill('nothing'),
    'packed, then late',
    'late alone',
    'nothing',
    'packed',
    'packed, then late',
    'late alone',
    'batches',
    'batches',
  ];
  const hours = fates.map((fate, index) => {
    const hour = BEGIN + index * HOUR_MS;
    return { hour, fate, samples: fate === 'nothing' ? [] : spread(hour, 1 + ((index * 7) % 20), index) };
  });
  let expected: Sample[];
  beforeAll(async () => {
    expected = await world.lay('mixed', hours);
  });

  test.each([1, 100])('Pages of raw samples: limit %i, in both orders: each sample once', async (limit) => {
    for (const order of ORDERS) {
      const pages = await pagesOf(world.system, path('mixed', `order=${order}&limit=${limit}`));
      expectAll(pages, order, expected);
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
    }
  });
});

test('Pages of raw samples: gap of most of a year: fewer than 14 database requests a page, in both orders', async () => {
  const old = BEGIN - 300 * DAY_MS;
  const samples = [...spread(old, 3, 1), ...spread(old + 299 * DAY_MS, 3, 2)];
  await world.history.packedUntil(BEGIN + 300 * HOUR_MS);
  clock.now = BEGIN + 300 * HOUR_MS;
  for (const hour of new Set(samples.map(([ts]) => bucketOf(ts)))) {
    await world.measure(
      'gap',
      samples.filter(([ts]) => bucketOf(ts) === hour),
    );
    await world.history.pack(world.history.sensorOf('gap', 's'), hour);
  }
  for (const order of ORDERS) {
    const requests = await requestsOf(async () => {
      const pages = await pagesOf(world.system, path('gap', `order=${order}&limit=2`));
      expectAll(pages, order, samples);
      expect(pages.length).toBe(3);
    });
    // Each page reads the sensor, six stretches of a year, one of which touches two years, and the hours.
    expect(requests).toBeLessThan(3 * 14);
  }
});

test('Pages of raw samples: samples are older than the retention time: left out, to the millisecond', async () => {
  const hour = BEGIN - 350 * DAY_MS;
  clock.now = hour + 2 * DAY_MS;
  const samples = spread(hour, 5, 0);
  await world.measure('oldest', samples);
  await world.history.pack(world.history.sensorOf('oldest', 's'), hour, clock.now + HOUR_MS);
  const [, second] = samples[1] ? [0, samples[1][0]] : [];
  clock.now = Number(second) + 365 * DAY_MS;
  expectAll(await pagesOf(world.system, path('oldest', 'from=0')), 'desc', samples.slice(1));
  clock.now += 1;
  expectAll(await pagesOf(world.system, path('oldest', 'from=0')), 'desc', samples.slice(2));
});

/** @returns requests to the database during this work */
async function requestsOf(work: () => Promise<void>): Promise<number> {
  const count = async () => {
    const text = await (await fetch(`${world.system.httpUrl}/metrics`)).text();
    return [...text.matchAll(/^iot_db_request_seconds_count\{query="read_[^}]*\} (\d+)/gm)].reduce(
      (sum, [, number]) => sum + Number(number),
      0,
    );
  };
  const before = await count();
  await work();
  return (await count()) - before;
}
