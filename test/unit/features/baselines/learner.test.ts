import { expect, test } from '@jest/globals';
import { createBaselineStore } from '../../../../api/features/baselines/store.ts';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { createTestLearner, keysOf } from '../../../support/features/baselines.ts';
import { GROUPS, useMemoryPath } from '../../../support/history/memory-path.ts';

/** A midnight in June, and one after New Year, whose last four weeks lie in two partitions. */
const DAY = Date.UTC(2026, 5, 10);

const path = useMemoryPath();

/** Writes the statistics of some days before a time. @param to epoch ms */
async function writeHours(device: string, to: number, days: number, mean: number = 20) {
  await path.send(device, [{ ts: path.clock.now, value: mean }]);
  const keys = path.keyOf(device);
  for (let hour = to - days * DAY_MS; hour < to; hour += HOUR_MS) {
    const value = mean + ((hour / HOUR_MS) % 3) - 1;
    const [min, max] = [value - 1, value + 1];
    const statistics = { count: 60, min, max, sum: 60 * value, first: value, last: value };
    await path.store.packing.writeStatistics(keys, hour, statistics, hour + 2 * HOUR_MS);
  }
}

const table = () => createBaselineStore(path.store.session);

const learner = () => createTestLearner({ store: path.store, groups: GROUPS, clock: () => path.clock.now });

async function storedOn(day: number) {
  const keys = [];
  for (let group = 0; group < GROUPS; group++) {
    for await (const rows of table().pages(group, day)) keys.push(...rows.map(({ key }) => key));
  }
  return keys.sort();
}

const learnedUntil = () =>
  Promise.all(Array.from({ length: GROUPS }, (_, group) => table().learnedUntil(group)));

test('Baseline learner: first round: stores the baselines of today; from 6:00 on, once, those of tomorrow', async () => {
  await writeHours('device', DAY, 3);
  path.clock.now = DAY + HOUR_MS;
  const { learnDue, counts, lag } = learner();
  await learnDue();
  expect(await storedOn(DAY)).toEqual([keysOf('device', 's').key]);
  expect(await learnedUntil()).toEqual(Array(GROUPS).fill(DAY + DAY_MS));
  expect(lag.groups()).toEqual({ learned: GROUPS, missing: 0 });
  await learnDue();
  expect(counts.learned).toBe(1);
  path.clock.now = DAY + 6 * HOUR_MS;
  await learnDue();
  await learnDue();
  expect(counts.learned).toBe(2);
  expect(await storedOn(DAY + DAY_MS)).toEqual([keysOf('device', 's').key]);
  path.clock.now = DAY + 10 * DAY_MS;
  expect(lag.overdueMs()).toBeGreaterThan(7 * DAY_MS);
  expect(lag.groups()).toEqual({ learned: 0, missing: GROUPS });
  await learnDue();
  expect(lag.overdueMs()).toBe(0);
});

test('Baseline learner: a sensor has 23 hours of history: no baseline is stored', async () => {
  await writeHours('new', DAY, 23 / 24);
  await writeHours('old', DAY, 2);
  path.clock.now = DAY;
  await learner().learnDue();
  expect(await storedOn(DAY)).toEqual([keysOf('old', 's').key]);
});

test('Baseline learner: a process is killed while it learns: the next learner stores the baselines of all devices', async () => {
  for (const device of ['a', 'b', 'c']) await writeHours(device, DAY, 2);
  path.clock.now = DAY;
  let writes = 0;
  const stored = table();
  const failing = {
    ...stored,
    async write(...args: Parameters<typeof stored.write>) {
      writes++;
      if (writes === 2) throw new TypeError('killed');
      await stored.write(...args);
    },
  };
  const killed = createTestLearner({
    store: path.store,
    baselines: failing,
    groups: GROUPS,
    clock: () => path.clock.now,
  });
  await expect(killed.learnDue()).rejects.toThrow('killed');
  expect(await learnedUntil()).toContain(null);
  await learner().learnDue();
  expect(await storedOn(DAY)).toEqual(['a', 'b', 'c'].map((device) => keysOf(device, 's').key).sort());
});

test('Baseline learner: the clock is a month ahead: nothing is learned until the clock is right', async () => {
  await writeHours('device', DAY, 3);
  let setRight: (now: number) => void = () => {};
  const rightTime: Promise<number> = new Promise((resolve) => {
    setRight = resolve;
  });
  path.clock.now = DAY + 30 * DAY_MS;
  const guard = { now: () => rightTime };
  const ahead = createTestLearner({
    store: path.store,
    groups: GROUPS,
    clock: () => path.clock.now,
    guard,
  });
  const learned = ahead.learnDue();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(await learnedUntil()).toEqual(Array(GROUPS).fill(null));
  path.clock.now = DAY + HOUR_MS;
  setRight(path.clock.now);
  await learned;
  expect(await storedOn(DAY)).toEqual([keysOf('device', 's').key]);
  expect(await learnedUntil()).toEqual(Array(GROUPS).fill(DAY + DAY_MS));
});
