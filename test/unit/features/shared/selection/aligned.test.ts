import { expect, test } from '@jest/globals';
import {
  type AlignedSensor,
  addGroups,
  readAligned,
} from '../../../../../api/features/shared/selection/aligned.ts';
import { uniformGrid } from '../../../../../api/history/reading/grid.ts';
import type { Reading } from '../../../../../api/history/reading/index.ts';
import { readBins } from '../../../../../api/history/reading/series.ts';

const HOUR = 3_600_000;
const FROM = Date.UTC(2026, 1, 3);
const range = { from: FROM, to: FROM + 4 * HOUR };
const grid = uniformGrid(range, HOUR);

const readingOf = (deps: Parameters<typeof readBins>[0]): Pick<Reading, 'bins'> => ({
  bins: (...args) => readBins(deps, ...args),
});

/** Sensors whose hours all have one sample with the number of the sensor, and a count of the look-ups. */
function createHistory(count: number) {
  const started = { total: 0, running: 0, most: 0 };
  const sensors: Array<AlignedSensor & { index: number }> = Array.from({ length: count }, (_, index) => ({
    index,
    key: { group: 0, device: Buffer.from([index]), sensor: Buffer.alloc(16) },
    newest: Number.POSITIVE_INFINITY,
  }));
  const deps = {
    source: {},
    lookUp: async ({ device }: { device: Buffer }, from: number, to: number) => {
      started.total++;
      started.most = Math.max(started.most, ++started.running);
      // Later sensors answer first.
      await new Promise((resolve) => setTimeout(resolve, (count - Number(device[0])) % 5));
      started.running--;
      const value = Number(device[0]);
      const exact = { count: 1, min: value, max: value, sum: value, first: value, last: value };
      return Array.from({ length: (to - from) / HOUR }, (_, index) => ({
        hour: from + index * HOUR,
        packed: true,
        exact,
        count: 1,
      }));
    },
  } as unknown as Parameters<typeof readBins>[0];
  return { deps, sensors, started };
}

test('Aligned series of sensors: 100 sensors: returned in order, with 8 look-ups at once', async () => {
  const { deps, sensors, started } = createHistory(100);
  const { signal } = new AbortController();
  const values = [];
  for await (const { sensor, bins } of readAligned(readingOf(deps), sensors, range, { grid, signal })) {
    expect(bins.column('avg')).toEqual(Array(4).fill(sensor.index));
    values.push(sensor.index);
  }
  expect(values).toEqual(sensors.map(({ index }) => index));
  expect(started.most).toBe(8);
});

test.each([
  ['bins of an hour', 4, HOUR, 8],
  ['bins of less than an hour', 4, HOUR - 1, 6],
  ['40,000 bins', 40_000, HOUR, 5],
  ['150,000 bins', 150_000, HOUR, 2],
])('Aligned series of sensors: %s: limited number of reads at once', async (_, length, narrowest, most) => {
  const { deps, sensors, started } = createHistory(60);
  const { signal } = new AbortController();
  const empty = {
    ...deps,
    lookUp: (...args: Parameters<typeof deps.lookUp>) => deps.lookUp(...args).then(() => []),
  };
  for await (const { bins } of readAligned(readingOf(empty), sensors, range, {
    grid: { ...grid, length, narrowest },
    signal,
  }))
    expect(bins.points()).toEqual([]);
  expect(started).toMatchObject({ total: 60, most });
});

test('Aligned series of sensors: client disconnects while a sensor is read: the read rejects with the abort reason', async () => {
  const { deps, sensors } = createHistory(1);
  const gone = new Error('gone');
  const controller = new AbortController();
  const read = readAligned(readingOf(deps), sensors, range, { grid, signal: controller.signal }).next();
  controller.abort(gone);
  await expect(read).rejects.toBe(gone);
});

test('Aligned series of sensors: the newest sample lies within the range: hours after it are not looked up', async () => {
  const { deps, sensors } = createHistory(1);
  const { signal } = new AbortController();
  const [sensor] = sensors;
  const short = [{ ...(sensor as (typeof sensors)[number]), newest: FROM + HOUR }];
  for await (const { bins } of readAligned(readingOf(deps), short, range, { grid, signal }))
    expect(bins.column('count')).toEqual([1, 1, 0, 0]);
});

test('Aligned series of sensors: every three sensors form a group: sums and counts of each group are added', async () => {
  const { deps, sensors } = createHistory(7);
  const { signal } = new AbortController();
  const read = readAligned(readingOf(deps), sensors, range, { grid, signal });
  const groups = [];
  for await (const { sensors: members, bins } of addGroups(read, ({ index }) => Math.floor(index / 3)))
    groups.push([members.map(({ index }) => index), bins.column('sum')[0], bins.column('count')[3]]);
  expect(groups).toEqual([
    [[0, 1, 2], 3, 3],
    [[3, 4, 5], 12, 3],
    [[6], 6, 1],
  ]);
});
