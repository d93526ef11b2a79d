import { expect, test } from '@jest/globals';
import { MillraceError } from '../../../../common/errors.ts';
import { createVirtualDatabase } from '../../../support/database/virtual-database.ts';

const median = (sizes: number[]) => [...sizes].sort((a, b) => a - b)[sizes.length >> 1] ?? 0;

const unavailable = () => new MillraceError('unavailable', 'no answer');
const refusal = () => new MillraceError('rejected', 'the row is too large');
const noFailure = () => undefined;

/** Final size of the window: the median request takes eight times as long as an unloaded one. */
const settledFor = (servers: number) => ({ min: 7.5 * servers, max: 8.5 * servers });

function expectMedianWithin(sizes: number[], { min, max }: { min: number; max: number }) {
  expect(median(sizes)).toBeGreaterThanOrEqual(min);
  expect(median(sizes)).toBeLessThanOrEqual(max);
}

test('Congestion window: database is overloaded: size settles where latency is eight times the unloaded latency', async () => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4 });
  await database.run(20);
  expectMedianWithin(await database.run(20), settledFor(4));
});

test.each([
  [5, 'takes 300 ms to answer the requests in flight before a probe'],
  [160, 'answers 8 requests in more than 300 ms'],
])(
  'Congestion window: process starts under load, requests take %i ms: size settles although the database %s',
  async (serviceMs) => {
    const database = createVirtualDatabase({ servers: 4, serviceMs });
    await database.run(60);
    expectMedianWithin(await database.run(20), settledFor(4));
  },
);

test('Congestion window: service time doubles, then halves: size shrinks, then grows', async () => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4 });
  await database.run(30);
  database.slow(8);
  await database.run(5);
  expectMedianWithin(await database.run(20), { min: 15, max: 17 });
  database.slow(4);
  await database.run(5);
  expectMedianWithin(await database.run(10), settledFor(4));
});

test('Congestion window: latency stays high for 100 s: the high latency is taken as unloaded', async () => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4 });
  await database.run(60);
  database.slow(8);
  await database.run(100);
  expectMedianWithin(await database.run(20), settledFor(4));
  database.slow(16);
  await database.run(100);
  expectMedianWithin(await database.run(20), settledFor(4));
});

test('Congestion window: 30 % of requests are 50 times slower: size does not shrink; 70 %: size shrinks to 4', async () => {
  let count = 0;
  /** @param share of ten requests */
  const slowShare = (share: number) => () => ((count++ * 7) % 10 < share ? 100 : 2);
  const database = createVirtualDatabase({ servers: 256, serviceMs: slowShare(3), max: 64 });
  await database.run(30);
  const sizes = await database.run(30);
  expect(sizes.filter((size) => size === 64).length / sizes.length).toBeGreaterThan(0.9);
  database.slow(slowShare(7));
  await database.run(5);
  expectMedianWithin(await database.run(10), { min: 4, max: 4 });
});

test('Congestion window: requests fail, then succeed: size shrinks to 4 and recovers within 5 s', async () => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4 });
  await database.run(20);
  database.fail(unavailable);
  await database.run(3);
  expect(database.window.size).toBe(4);
  database.fail(noFailure);
  await database.run(5);
  expectMedianWithin(await database.run(5), settledFor(4));
});

test('Congestion window: fewer than a tenth of the requests fail: size does not shrink', async () => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4 });
  await database.run(20);
  let count = 0;
  database.fail(() => (count++ % 12 === 0 ? unavailable() : undefined));
  expectMedianWithin(await database.run(10), settledFor(4));
});

test('Congestion window: the database refuses each request as invalid: size does not shrink', async () => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4 });
  await database.run(20);
  database.fail(refusal);
  await database.run(5);
  expectMedianWithin(await database.run(10), settledFor(4));
});

test.each([1, 7])('Congestion window: INGEST_MAX_IN_FLIGHT is %i: size never exceeds it', async (max) => {
  const database = createVirtualDatabase({ servers: 4, serviceMs: 4, max });
  const sizes = await database.run(40);
  expect(Math.max(...sizes)).toBe(max);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(1);
});
