import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createPlaceFilter } from '../../../../api/features/assets/query-places.ts';
import type { Change } from '../../../../api/features/assets/tree/change.ts';
import { AssetTree, type Level } from '../../../../api/features/assets/tree/index.ts';
import { GROUP_KEYS, orderOf } from '../../../../api/features/query/answers.ts';
import {
  addGroups,
  readAligned,
  type SelectedSensor,
  splitByPlace,
} from '../../../../api/features/shared/selection/index.ts';
import { createReading, uniformGrid } from '../../../../api/history/reading/index.ts';
import { bucketOf, HOUR_MS } from '../../../../schema/rules.ts';
import {
  createWorld,
  FIRST_HOUR,
  type World,
  type WorldSensor,
} from '../../../support/features/assets/roll-up-world.ts';
import { runs } from '../../../support/runs.ts';

const HOURS = 12;
const RANGE = { from: FIRST_HOUR, to: FIRST_HOUR + HOURS * HOUR_MS };
const LEVELS: Level[] = ['site', 'area', 'line'];
/** Two sites, an area below each, and two lines, which move. */
const ASSETS = ['site', 'site', 'area', 'area', 'line', 'line'] as const;
const PARENTS = [null, null, 0, 1, 2, 3];

const idOf = (asset: number) => `00000000-0000-4000-8000-00000000000${asset}`;
const parentOf = (asset: number | null) => (asset === null ? null : idOf(asset));

let world: World;

/** In each hour a sensor has some samples. They differ between sensors and hours. */
beforeAll(async () => {
  world = await createWorld({
    'device-0': { a: 'temperature', b: 'temperature' },
    'device-1': { a: 'temperature' },
    'device-2': { a: 'humidity', c: 'temperature' },
  });
  for (const [number, { samples }] of world.sensors.entries())
    for (let hour = 0; hour < HOURS; hour++)
      for (let n = 0; n <= (number + hour) % 3; n++)
        samples.set(FIRST_HOUR + hour * HOUR_MS + n * 60_000 + number, hour * 8 + number + n / 8);
  world.clock.now = RANGE.to + 2 * HOUR_MS;
  const process = world.createProcess();
  for (const device of new Set(world.sensors.map((sensor) => sensor.device)))
    for (let hour = 0; hour < HOURS; hour++) await process.pack(device, FIRST_HOUR + hour * HOUR_MS);
  for (let group = 0; group < world.store.groups; group++)
    await world.store.packProgress.writePacked(group, RANGE.to);
});

/** `since` in hours before or after the start of the range; null: always */
type Step = { since: number | null; what: number; to: number | null; isOwn: boolean };

const step: fc.Arbitrary<Step> = fc.record({
  since: fc.option(fc.integer({ min: -2, max: HOURS - 1 })),
  what: fc.nat(6),
  to: fc.option(fc.nat(ASSETS.length - 1), { freq: 6 }),
  isOwn: fc.boolean(),
});

/** @returns a line moves, or a device or one of its sensors */
function changeOf({ since: hour, what, to, isOwn }: Step): Change {
  const since = hour === null ? 0 : FIRST_HOUR + hour * HOUR_MS;
  if (what > 4)
    return { do: 'move', asset: idOf(what - 1), parent: parentOf(to === null ? to : to % 4), since };
  const { device, sensor } = world.sensors[what] as WorldSensor;
  const own = isOwn ? { sensor: sensor.id, sensor_name: sensor.name } : {};
  return {
    do: 'place',
    device: device.id,
    name: device.name,
    ...own,
    asset: parentOf(to),
    since,
    by: 'hand',
  };
}

function treeOf(steps: Step[]): AssetTree {
  const tree = new AssetTree();
  const created = ASSETS.map((level, asset): Change => {
    const parent = parentOf(PARENTS[asset] ?? null);
    return { do: 'create', asset: idOf(asset), name: `asset ${asset}`, level, parent };
  });
  tree.apply(1, [...created, ...steps.map(changeOf)]);
  return tree;
}

const selected = (): SelectedSensor[] =>
  world.sensors.map(({ device, group, sensor, type }) => ({
    key: { group, device: device.bytes, sensor: sensor.bytes },
    newest: Number.POSITIVE_INFINITY,
    row: { deviceId: device.id, deviceName: device.name, id: sensor.id, name: sensor.name, type } as never,
  }));

/** @returns counts and sums of each bin that has samples, by the path of the place, or `device/sensor` */
async function query(tree: AssetTree, asset: string | null, level: Level | undefined, width: number) {
  const filter = createPlaceFilter(tree, { asset, level });
  const grid = uniformGrid(RANGE, width);
  const group = filter.isGrouped ? 'place' : 'sensor';
  const sensors = splitByPlace(selected(), filter, RANGE).sort(orderOf(group));
  const signal = new AbortController().signal;
  const read = readAligned(createReading(world.store), sensors, RANGE, { grid, signal });
  const bins: Record<string, [count: number, sum: number]> = {};
  for await (const { sensors: of, bins: all } of addGroups(read, GROUP_KEYS[group])) {
    const key = filter.isGrouped ? (of[0]?.place?.path ?? 'none') : `${of[0]?.row.deviceId}/${of[0]?.row.id}`;
    for (const [index, count] of all.column('count').entries())
      if (count) bins[`${key} ${grid.startOf(index)}`] = [count, all.column('sum')[index] as number];
  }
  return bins;
}

/** Asks the tree for each sample where its sensor was in that hour. */
function bruteForce(tree: AssetTree, asset: string | null, level: Level | undefined, width: number) {
  const bins: Record<string, [count: number, sum: number]> = {};
  const { startOf, indexOf } = uniformGrid(RANGE, width);
  for (const { device, sensor, samples } of world.sensors) {
    for (const [ts, value] of samples) {
      const above = tree.ancestorsAt(device.id, sensor.id, bucketOf(ts));
      if (asset !== null && !above.includes(asset)) continue;
      const place = above.find((id) => tree.asset(id)?.level === level);
      const key = level === undefined ? `${device.id}/${sensor.id}` : place ? tree.path(place) : 'none';
      const bin = `${key} ${startOf(indexOf(ts))}`;
      const [count, sum] = bins[bin] ?? [0, 0];
      bins[bin] = [count + 1, sum + value];
    }
  }
  return bins;
}

test('Query by assets: random moves of lines, devices and sensors: each sample counts where its sensor was in that hour', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.option(fc.nat(ASSETS.length - 1)),
      fc.option(fc.constantFrom(...LEVELS), { nil: undefined }),
      fc.constantFrom(HOUR_MS, 3 * HOUR_MS, 24 * HOUR_MS),
      async (steps, number, level, width) => {
        const tree = treeOf(steps);
        const asset = parentOf(number);
        expect(await query(tree, asset, level, width)).toEqual(bruteForce(tree, asset, level, width));
        const { devices, spansOf } = createPlaceFilter(tree, { asset, level });
        const candidates = devices(RANGE);
        for (const { device, sensor } of world.sensors) {
          if (spansOf(device.id, sensor.id, RANGE).length === 0) continue;
          expect(candidates === null || candidates.includes(device.id)).toBe(true);
        }
      },
    ),
    { numRuns: runs(150) },
  );
});

test('Query with a bound token: a sensor has left the asset: it does not count', () => {
  const [first] = world.sensors as [WorldSensor];
  const place = (to: number, since: number) => changeOf({ since, what: 0, to, isOwn: false });
  const tree = treeOf([]);
  tree.apply(2, [place(4, -2), place(5, 3)]);
  const spans = (asset: number, isOnlyNow: boolean) =>
    createPlaceFilter(tree, { asset: idOf(asset), isOnlyNow }).spansOf(
      first.device.id,
      first.sensor.id,
      RANGE,
    );
  const moved = FIRST_HOUR + 3 * HOUR_MS;
  expect(spans(4, false)).toEqual([{ from: RANGE.from, to: moved, place: null }]);
  expect(spans(4, true)).toEqual([]);
  expect(spans(5, true)).toEqual([{ from: moved, to: RANGE.to, place: null }]);
});
