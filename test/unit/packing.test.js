import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { createBehind } from '../../api/history/packing/index.js';
import { historyRows, isSame } from '../../api/history/packing/sensor-hour.js';
import { createSteps, iteratePages, shareOf } from '../../api/history/packing/steps.js';
import { createRetry } from '../../api/store/retry.js';
import { MillraceError } from '../../common/errors.js';
import { someAtOnce } from '../../common/some-at-once.js';
import { unpackSamples } from '../../schema/packed/unpack.js';
import { closingOf, DAY_MS, HOUR_MS, isExact, isLate, settlingOf } from '../../schema/rules.js';

/** @import { Page } from '../../api/history/packing/steps.js' */

const logger = pino({ level: 'silent' });

const FIVE_MINUTES_MS = 5 * 60_000;

/** @template T @param {AsyncIterable<T>} source */
async function listOf(source) {
  const list = [];
  for await (const item of source) list.push(item);
  return list;
}

test('statistics are exact when nothing came as late as five minutes before their reading began', () => {
  const readFrom = 10 * HOUR_MS;
  expect(isExact({ readFrom: null, lateAt: null })).toBe(false);
  expect(isExact({ readFrom: null, lateAt: 1 })).toBe(false);
  expect(isExact({ readFrom, lateAt: null })).toBe(true);
  expect(isExact({ readFrom, lateAt: readFrom - FIVE_MINUTES_MS - 1 })).toBe(true);
  expect(isExact({ readFrom, lateAt: readFrom - FIVE_MINUTES_MS })).toBe(false);
  expect(isExact({ readFrom, lateAt: readFrom + 1 })).toBe(false);
});

test('Rules: an hour closes an hour after its end: what is committed five minutes earlier, or later, is late', () => {
  const hour = 10 * HOUR_MS;
  expect(closingOf(hour)).toBe(12 * HOUR_MS);
  expect(isLate(hour, 12 * HOUR_MS - FIVE_MINUTES_MS - 1)).toBe(false);
  expect(isLate(hour, 12 * HOUR_MS - FIVE_MINUTES_MS)).toBe(true);
});

test('a day is looked at again a day after its last hour has closed', () => {
  expect(settlingOf(0)).toBe(DAY_MS + HOUR_MS + DAY_MS);
});

test('pages are read one after the other, empty ones too, and only as far as they are used', async () => {
  const pages = [
    { items: [1, 2], next: 'a' },
    { items: [], next: 'b' },
    { items: [3], next: undefined },
  ];
  const read = jest.fn(async (/** @type {string | undefined} */ after) => {
    const page = pages[after === undefined ? 0 : after === 'a' ? 1 : 2];
    return /** @type {Page<number>} */ (page);
  });
  expect(await listOf(iteratePages(read))).toEqual([1, 2, 3]);
  read.mockClear();
  for await (const item of iteratePages(read)) if (item === 2) break;
  expect(read).toHaveBeenCalledTimes(1);
});

test('some are worked on at once; after a failure none is begun any more, and all that was has ended', async () => {
  let atOnce = 0;
  let most = 0;
  /** @type {number[]} */
  const done = [];
  const work = async (/** @type {number} */ item) => {
    most = Math.max(most, ++atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce--;
    if (item === 5) throw new Error('five');
    done.push(item);
  };
  async function* numbers() {
    for (let i = 1; i <= 100; i++) yield i;
  }
  await expect(someAtOnce(3, numbers(), work)).rejects.toThrow('five');
  expect(most).toBe(3);
  expect(atOnce).toBe(0);
  expect(done.length).toBeLessThan(10);
});

test('series are the same only bit by bit', () => {
  const one = { times: [1, 2], values: [0, 5] };
  expect(isSame(one, { times: new Float64Array([1, 2]), values: new Float64Array([0, 5]) })).toBe(true);
  expect(isSame(one, { times: [1, 2], values: [-0, 5] })).toBe(false);
  expect(isSame(one, { times: [1, 3], values: [0, 5] })).toBe(false);
  expect(isSame(one, { times: [1], values: [0] })).toBe(false);
});

test('while ingest waits a step is followed by a rest, and the share grows with what is behind', async () => {
  expect(shareOf(0)).toBeCloseTo(0.1);
  expect(shareOf(2 * HOUR_MS)).toBeCloseTo(0.3);
  expect(shareOf(30 * DAY_MS)).toBe(0.5);
  let pressed = true;
  let overdueMs = 0;
  /** @type {number[]} */
  const rests = [];
  const retry = createRetry({ logger, onRetry: () => {} });
  let now = 0;
  const steps = createSteps({
    retry,
    isPressed: () => pressed,
    overdueMs: () => overdueMs,
    rest: async (ms) => rests.push(ms),
    monotonic: () => now,
  });
  const work = (/** @type {number} */ ms) => async () => {
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

test('an hour of more samples than a row holds is several rows', () => {
  const times = Array.from({ length: 70_000 }, (_, at) => at);
  const rows = [...historyRows(0, { times, values: times })];
  const read = rows.map((row) => unpackSamples(0, row));
  expect(read.map((series) => series.times.length)).toEqual([65_536, 4464]);
  expect(read.flatMap((series) => [...series.values])).toEqual(times);
});

test('a step is repeated until the database takes it; when packing ends none is begun and no rest goes on', async () => {
  const retry = createRetry({ logger, onRetry: () => {} });
  const steps = createSteps({ retry, isPressed: () => true, overdueMs: () => 0 });
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

/** How far packing is behind with `BATCH_DAYS` 8, by a clock that the test holds. */
function packingOfEightDays() {
  const clock = { now: 100 * DAY_MS };
  const warn = jest.fn();
  const behind = createBehind({
    clock: () => clock.now,
    batchDays: 8,
    logger: /** @type {any} */ ({ warn }),
  });
  return { behind, clock, warn };
}

test('Packing: several groups: the farthest behind counts, and a warning follows after a quarter of BATCH_DAYS', () => {
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

test('Packing behind: exactly a quarter of BATCH_DAYS: no warning; a millisecond more: one each ten minutes', () => {
  const { behind, clock, warn } = packingOfEightDays();
  behind.note(0, clock.now - 2 * DAY_MS);
  behind.warn();
  expect(warn).not.toHaveBeenCalled();
  clock.now += 1;
  behind.warn();
  expect(warn).toHaveBeenCalledTimes(1);
  clock.now += 600_000 - 1;
  behind.warn();
  expect(warn).toHaveBeenCalledTimes(1);
  clock.now += 1;
  behind.warn();
  expect(warn).toHaveBeenCalledTimes(2);
});

test('Packing behind: one group is known: what is overdue counts from the closing of its oldest hour', () => {
  const { behind, clock } = packingOfEightDays();
  behind.note(0, clock.now - 5 * HOUR_MS);
  expect(behind.overdueMs()).toBe(3 * HOUR_MS);
});

test('Steps: ingest waits: a step ends after its rest, and the end of packing ends the rest', async () => {
  const retry = createRetry({ logger, onRetry: () => {} });
  let isResting = false;
  const steps = createSteps({
    retry,
    isPressed: () => true,
    overdueMs: () => 0,
    rest: (_ms, signal) =>
      new Promise((resolve) => {
        isResting = true;
        signal.addEventListener('abort', () => resolve(undefined));
      }),
  });
  let isDone = false;
  const step = steps
    .run(async () => 'answer')
    .finally(() => {
      isDone = true;
    });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isResting, isDone]).toEqual([true, false]);
  steps.stop();
  expect(await step).toBe('answer');
});
