import { expect, test } from '@jest/globals';
import { AssetSeries } from '../../../../../api/features/assets/roll-ups/asset-series.ts';
import type { Place } from '../../../../../api/features/assets/tree/change.ts';
import { createReading } from '../../../../../api/history/reading/index.ts';
import { stampOf } from '../../../../../api/store/index.ts';
import { DAY_MS, HOUR_MS } from '../../../../../schema/rules.ts';
import {
  createWorld,
  FIRST_HOUR,
  type World,
  type WorldSensor,
} from '../../../../support/features/assets/roll-up-world.ts';

const MINUTE_MS = 60_000;
const SITE = '00000000-0000-4000-8000-000000000001';
const LINE = '00000000-0000-4000-8000-000000000002';
const HOURS = 5;
const RANGE = { from: FIRST_HOUR, to: FIRST_HOUR + HOURS * HOUR_MS };
const OPTIONS = { type: 'temperature', points: 100, shift: 0, signal: new AbortController().signal };

/** In each hour a sensor has some samples. They differ between sensors and hours. */
async function createFactory() {
  const world = await createWorld({
    'device-0': { a: 'temperature', b: 'humidity', c: 'temperature' },
    'device-1': { a: 'temperature' },
  });
  world.edit([
    { do: 'create', asset: SITE, name: 'Site', level: 'site', parent: null },
    { do: 'create', asset: LINE, name: 'Line', level: 'line', parent: SITE },
  ]);
  world.clock.now = RANGE.to + 2 * HOUR_MS;
  for (const [number, { samples }] of world.sensors.entries())
    for (let hour = 0; hour < HOURS; hour++)
      for (let n = 0; n <= number; n++)
        samples.set(FIRST_HOUR + hour * HOUR_MS + (number + n) * MINUTE_MS, hour * 10 + number + n / 8);
  return world;
}

const place = ({ device }: WorldSensor, asset: string | null, since: number): Place => ({
  do: 'place',
  device: device.id,
  name: device.name,
  asset,
  since,
  by: 'hand',
});

async function packAll(world: World, process: ReturnType<World['createProcess']>) {
  const devices = new Set(world.sensors.map(({ device }) => device));
  for (let hour = 0; hour < HOURS; hour++)
    for (const device of devices) await process.pack(device, FIRST_HOUR + hour * HOUR_MS);
  for (let group = 0; group < world.store.groups; group++)
    await world.store.packProgress.writePacked(group, RANGE.to);
}

const seriesOf = (world: World, { tree, pending }: ReturnType<World['createProcess']>, manyDevices: number) =>
  new AssetSeries({
    tree,
    pending,
    store: { groups: world.store.groups, rollUps: world.rollUps },
    reading: createReading(world.store),
    manyDevices,
  });

test('Asset series: a device moves, and a sensor has a place of its own: sensors and roll-ups give the same points', async () => {
  const world = await createFactory();
  const [first, , own, other] = world.sensors as [WorldSensor, WorldSensor, WorldSensor, WorldSensor];
  const since = FIRST_HOUR + 2 * HOUR_MS;
  world.edit([place(first, LINE, 0), place(other, LINE, 0)]);
  world.edit([place(other, SITE, since)]);
  world.edit([
    {
      ...place(own, SITE, FIRST_HOUR + 3 * HOUR_MS),
      sensor: own.sensor.id,
      sensor_name: own.sensor.name,
    },
  ]);
  const process = world.createProcess();
  await packAll(world, process);
  world.clock.now += 30 * MINUTE_MS;
  await process.roll();
  for (const asset of [LINE, SITE]) {
    for (const points of [HOURS, 2]) {
      const direct = await seriesOf(world, process, 100).read(asset, RANGE, { ...OPTIONS, points });
      const rolled = await seriesOf(world, process, 1).read(asset, RANGE, { ...OPTIONS, points });
      expect(rolled.source).toBe('roll-ups');
      expect(direct.source).toBe('statistics');
      expect(rolled.width).toBe(direct.width);
      expect(rolled.points).toEqual(direct.points);
    }
  }
  // Each hour has 1 sample of `first`, 3 of `own` and 4 of `other`.
  const counts = async (asset: string) =>
    (await seriesOf(world, process, 1).read(asset, RANGE, OPTIONS)).points.map(({ count }) => count);
  expect(await counts(LINE)).toEqual([8, 8, 4, 1, 1]);
  expect(await counts(SITE)).toEqual([8, 8, 8, 8, 8]);
});

test('Asset series: hours are not rolled up yet, or an edit is not: the answer has the time until which it is complete', async () => {
  const world = await createFactory();
  const [first] = world.sensors as [WorldSensor];
  world.edit([place(first, LINE, 0)]);
  const process = world.createProcess();
  await process.roll();
  await packAll(world, process);
  const read = () => seriesOf(world, process, 1).read(SITE, RANGE, OPTIONS);
  expect((await read()).completeUntil).toBe(0);
  await process.roll();
  for (let round = 0; round < 3; round++) {
    world.clock.now += 15 * MINUTE_MS;
    await process.roll();
  }
  expect((await read()).completeUntil).toBeNull();
  const since = FIRST_HOUR + 3 * HOUR_MS;
  world.edit([place(first, null, since)]);
  await process.refresh();
  expect((await read()).completeUntil).toBe(since);
  await process.roll();
  const rolled = await read();
  expect(rolled.completeUntil).toBeNull();
  expect(rolled.points.map(({ ts }) => ts)).toEqual([0, 1, 2].map((hour) => FIRST_HOUR + hour * HOUR_MS));
});

test('Asset series: a range that begins and ends within hours: roll-ups of whole hours only', async () => {
  const world = await createFactory();
  world.edit([place(world.sensors[0] as WorldSensor, LINE, 0)]);
  const process = world.createProcess();
  await packAll(world, process);
  world.clock.now += 30 * MINUTE_MS;
  await process.roll();
  const range = { from: RANGE.from + 1, to: RANGE.to - 1 };
  const shift = 5.5 * HOUR_MS;
  const { points, width } = await seriesOf(world, process, 1).read(LINE, range, { ...OPTIONS, shift });
  expect(width).toBe(HOUR_MS);
  expect(points.map(({ ts }) => ts)).toEqual([1, 2, 3].map((hour) => FIRST_HOUR + hour * HOUR_MS));
});

test('Roll-ups: a device retires, and its hour is computed again: its samples stay', async () => {
  const world = await createFactory();
  const [first] = world.sensors as [WorldSensor];
  world.edit([place(first, LINE, 0)]);
  const process = world.createProcess();
  await packAll(world, process);
  world.clock.now += 30 * MINUTE_MS;
  await process.roll();
  const key = { group: first.group, bytes: first.device.bytes };
  await world.store.write.registry.writeDevice(key, { name: 'device-0', registeredAt: 1 }, stampOf(1));
  await world.rollUps.keepSensors(key);
  expect(await world.store.retirement.retire(key, world.clock.now)).toBe(true);
  world.edit([place(first, SITE, FIRST_HOUR)]);
  await process.roll();
  const { points } = await seriesOf(world, process, 1).read(SITE, RANGE, OPTIONS);
  expect(points.map(({ count }) => count)).toEqual(Array(HOURS).fill(4));
});

test('Roll-ups: no process rolls up until notices have expired: all hours are computed', async () => {
  const world = await createFactory();
  world.edit([place(world.sensors[0] as WorldSensor, LINE, 0)]);
  const process = world.createProcess(60);
  await process.roll();
  await packAll(world, process);
  const counts = async () =>
    (await seriesOf(world, process, 1).read(SITE, RANGE, OPTIONS)).points.map(({ count }) => count);
  expect(await counts()).toEqual([]);
  world.clock.now += 20 * DAY_MS;
  await process.roll();
  expect(await counts()).toEqual(Array(HOURS).fill(4));
});
