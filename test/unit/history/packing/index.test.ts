import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { iteratePages, Steps, speedShare } from '../../../../api/background/steps.ts';
import { Behind } from '../../../../api/history/packing/index.ts';
import { historyRows, isSame } from '../../../../api/history/packing/pack-sensor-hour.ts';
import type { Page } from '../../../../api/store/history/unpacked.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { unpackSamples } from '../../../../schema/packed/unpack.ts';
import { DAY_MS, HOUR_MS, isExact } from '../../../../schema/rules.ts';

const logger = pino({ level: 'silent' });

const FIVE_MINUTES_MS = 5 * 60_000;

async function listOf<T>(source: AsyncIterable<T>) {
  const list = [];
  for await (const item of source) list.push(item);
  return list;
}

test('Statistics of an hour: late samples arrived at most five minutes before the read, or later: not exact', () => {
  const readFrom = 10 * HOUR_MS;
  expect(isExact({ readFrom: null, lateAt: null })).toBe(false);
  expect(isExact({ readFrom: null, lateAt: 1 })).toBe(false);
  expect(isExact({ readFrom, lateAt: null })).toBe(true);
  expect(isExact({ readFrom, lateAt: readFrom - FIVE_MINUTES_MS - 1 })).toBe(true);
  expect(isExact({ readFrom, lateAt: readFrom - FIVE_MINUTES_MS })).toBe(false);
  expect(isExact({ readFrom, lateAt: readFrom + 1 })).toBe(false);
});

test('Page iterator: several pages, some empty: items come in order, and later pages are read only if needed', async () => {
  const pages = [
    { items: [1, 2], next: 'a' },
    { items: [], next: 'b' },
    { items: [3], next: undefined },
  ];
  const read = jest.fn(async (after: string | undefined) => {
    const page = pages[after === undefined ? 0 : after === 'a' ? 1 : 2];
    return page as Page<number>;
  });
  expect(await listOf(iteratePages(read))).toEqual([1, 2, 3]);
  read.mockClear();
  for await (const item of iteratePages(read)) if (item === 2) break;
  expect(read).toHaveBeenCalledTimes(1);
});

test('isSame(): two series of samples: equal only if all times and values agree bit by bit', () => {
  const one = { times: [1, 2], values: [0, 5] };
  expect(isSame(one, { times: new Float64Array([1, 2]), values: new Float64Array([0, 5]) })).toBe(true);
  expect(isSame(one, { times: [1, 2], values: [-0, 5] })).toBe(false);
  expect(isSame(one, { times: [1, 3], values: [0, 5] })).toBe(false);
  expect(isSame(one, { times: [1], values: [0] })).toBe(false);
});

test('History packing: ingest waits for the database: a pause follows each database step, shorter as the lag grows', async () => {
  expect(speedShare(0)).toBe(0.1);
  expect(speedShare(-HOUR_MS)).toBe(0.1);
  expect(speedShare(2 * HOUR_MS)).toBeCloseTo(0.3);
  expect(speedShare(30 * DAY_MS)).toBe(0.5);
  let pressed = true;
  let overdueMs = 0;
  const rests: number[] = [];
  const retry = new Retry({ logger, onRetry: () => {} });
  let now = 0;
  const steps = new Steps({
    retry,
    isPressed: () => pressed,
    overdueMs: () => overdueMs,
    rest: async (ms) => rests.push(ms),
    monotonic: () => now,
  });
  const work = (ms: number) => async () => {
    now += ms;
  };
  await steps.run(work(20));
  overdueMs = 4 * HOUR_MS;
  await steps.run(work(20));
  await steps.run(work(5000));
  pressed = false;
  await steps.run(work(20));
  expect(rests.map(Math.round)).toEqual([180, 20, 2000]);
});

test('History rows: an hour of 70,000 samples: split into rows of 65,536 and 4,464', () => {
  const times = Array.from({ length: 70_000 }, (_, at) => at);
  const rows = [...historyRows(0, { times, values: times })];
  const read = rows.map((row) => unpackSamples(0, row));
  expect(read.map((series) => series.times.length)).toEqual([65_536, 4464]);
  expect(read.flatMap((series) => [...series.values])).toEqual(times);
});

test('History packing: database unavailable: a step is retried until it succeeds; after stop() no step begins', async () => {
  const retry = new Retry({ logger, onRetry: () => {} });
  // With a real clock the pauses between retries would count as work, and the rest would be nine times as long.
  const monotonic = () => 0;
  const steps = new Steps({ retry, isPressed: () => true, overdueMs: () => 0, monotonic });
  let failures = 2;
  const flaky = async () => {
    if (failures-- > 0) throw new MillraceError('unavailable', 'busy');
    return 'taken';
  };
  expect(await steps.run(flaky)).toBe('taken');
  const resting = steps.run(async () => 'last');
  steps.stop();
  expect(await resting).toBe('last');
  const never = jest.fn(async () => {});
  await expect(steps.run(never)).rejects.toThrow('packing ends');
  expect(never).not.toHaveBeenCalled();
});

/** Lag of packing with `BATCH_DAYS` 8, by a clock that the test sets. */
function packingOfEightDays() {
  const clock = { now: 100 * DAY_MS };
  const warn = jest.fn();
  const behind = new Behind({
    clock: () => clock.now,
    batchDays: 8,
    logger: { warn } as never,
  });
  return { behind, clock, warn };
}

test('Lag of history packing: several device groups: the slowest group counts; one warning after a quarter of BATCH_DAYS', () => {
  const { behind, clock, warn } = packingOfEightDays();
  expect([behind.behindMs(), behind.overdueMs()]).toEqual([0, 0]);
  behind.note(0, clock.now - 2 * HOUR_MS);
  behind.note(1, clock.now - 5 * HOUR_MS);
  expect([behind.behindMs(), behind.overdueMs()]).toEqual([5 * HOUR_MS, 3 * HOUR_MS]);
  behind.warn();
  expect(warn).not.toHaveBeenCalled();
  clock.now += 2 * DAY_MS;
  behind.warn();
  behind.warn();
  expect(warn).toHaveBeenCalledTimes(1);
  behind.note(1, clock.now);
  behind.note(0, clock.now);
  expect(behind.behindMs()).toBe(0);
});
