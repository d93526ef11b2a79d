import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Device, Sensor } from '../../../../api/ingest/registry/cache.ts';
import { liveItem } from '../../../../api/live/messages.ts';
import { stampAfter, stampOf } from '../../../../api/store/cql-values.ts';
import { createCorrectedLatest } from '../../../../api/store/latest/corrected.ts';
import { identifySensor, type SensorBytes } from '../../../../schema/ids.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { correctionsOf } from '../../../support/features/corrections.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 4, 5, 12, 30);
const clock = { now: NOW };

let published: Array<{ ts: string | null; value: number | null; corrected_until?: string }> = [];
let pipeline: MemoryPipeline;

const start = (options: Parameters<typeof startMemoryPipeline>[0] = {}) =>
  startMemoryPipeline({
    clock: () => clock.now,
    onStored: (device: Device, changed: Sensor[]) =>
      published.push(...changed.map((sensor) => liveItem(device, sensor))),
    ...options,
  });

beforeEach(async () => {
  clock.now = NOW;
  pipeline = await start();
  published = [];
});
afterEach(() => pipeline.stop());

const correct = () => correctionsOf(pipeline, () => clock.now);
const sample = (ts: number, value: number, sensor: string = 's') => ({ sensor_id: sensor, ts, value });
const send = (...samples: Array<ReturnType<typeof sample>>) => pipeline.measure('device', samples);
const stored = () => pipeline.samples('device', 's', NOW - 24 * HOUR_MS);
const latest = async (sensor: string = 's') => (await pipeline.latest('device'))[sensor];

test('Replacement: value with smaller bytes at the newest instant: latest, samples and live readers get it', async () => {
  await send(sample(NOW, 100));
  await correct().replace('device', [sample(NOW, 21)]);
  expect(await latest()).toEqual([NOW, 21]);
  expect(await stored()).toEqual([[NOW, 21]]);
  expect(published.at(-1)).toMatchObject({ value: 21, corrected_until: new Date(NOW).toISOString() });
});

test('Replacement: the old message is repeated, here and in another process: nothing changes', async () => {
  await send(sample(NOW, 100));
  const other = await start({ database: pipeline.client });
  await other.measure('device', [sample(NOW, 100)]);
  await correct().replace('device', [sample(NOW, 21)]);
  const before = published.length;
  await send(sample(NOW, 100));
  expect(published.length).toBe(before);
  await other.measure('device', [sample(NOW, 100)]);
  expect(await latest()).toEqual([NOW, 21]);
  expect(await stored()).toEqual([[NOW, 21]]);
  await other.stop();
});

test('Replacement: more than a thousand times the same instant: the last one is shown, and then a newer sample', async () => {
  await send(sample(NOW, 100));
  const { replace, corrections } = correct();
  const device = { ...pipeline.keyOf('device'), retiredAt: null };
  const sensor = identifySensor(device.id, 's') as { bytes: SensorBytes };
  // As after 990 replacements: revisions and write timestamps count µs, and soon reach the next ms.
  const entry = {
    kind: 'replace' as const,
    sensors: [],
    from: NOW,
    to: NOW + 1,
    samples: 0,
    by: '',
    reason: null,
  };
  await corrections.log.list(device as never, entry, { after: NOW * 1000 + 990 });
  await createCorrectedLatest(pipeline.store.session).write(
    device,
    sensor.bytes,
    { newest: null, stamp: stampAfter(stampOf(NOW), 990) },
    { ts: NOW, value: 100 },
  );
  for (let value = 20; value > 0; value--) {
    await replace('device', [sample(NOW, value)]);
    expect(await latest()).toEqual([NOW, value]);
  }
  await send(sample(NOW + 1000, 7));
  expect(await latest()).toEqual([NOW + 1000, 7]);
});

test('Replacement: samples of an old hour: latest is not changed, and no live reader gets them', async () => {
  await send(sample(NOW - HOUR_MS, 1), sample(NOW, 2));
  const before = published.length;
  await correct().replace('device', [sample(NOW - HOUR_MS, 0.5), sample(NOW - HOUR_MS + 1, 7)]);
  expect(await latest()).toEqual([NOW, 2]);
  expect(published.length).toBe(before);
  expect(await stored()).toEqual([
    [NOW - HOUR_MS, 0.5],
    [NOW - HOUR_MS + 1, 7],
    [NOW, 2],
  ]);
});

test('Replacement: an instant without a sample, newer than all: stored and shown', async () => {
  await send(sample(NOW - 1000, 1));
  await correct().replace('device', [sample(NOW, 2)]);
  expect(await latest()).toEqual([NOW, 2]);
});

test('Replacement: a measurement without a time, and an unknown device: refused', async () => {
  await send(sample(NOW, 1));
  const { replace } = correct();
  const batch = await replace('device', [{ sensor_id: 's', value: 2 } as never]);
  expect(batch).toMatchObject({ refused: [{ index: 0, code: 'bad_timestamp' }] });
  expect(await stored()).toEqual([[NOW, 1]]);
  await expect(replace('nobody', [sample(NOW, 2)])).rejects.toMatchObject({ code: 'unknown_device' });
});

test('Removal: the newest sample: latest shows the one before, and a newer sample replaces it', async () => {
  await send(sample(NOW - 2000, 1), sample(NOW - 1000, 2), sample(NOW, 3));
  await correct().remove('device', { from: NOW - 500 });
  expect(await latest()).toEqual([NOW - 1000, 2]);
  expect(published.at(-1)).toMatchObject({ value: 2 });
  await send(sample(NOW, 3));
  expect(await latest()).toEqual([NOW - 1000, 2]);
  await send(sample(NOW + 1, 4));
  expect(await latest()).toEqual([NOW + 1, 4]);
  expect(await stored()).toEqual([
    [NOW - 2000, 1],
    [NOW - 1000, 2],
    [NOW + 1, 4],
  ]);
});

test('Removal: of the newest sample, then an older one arrives for the first time: latest shows it, here and in other processes', async () => {
  for (const isOther of [false, true]) {
    const device = isOther ? 'second' : 'first';
    const key = pipeline.keyOf(device);
    const sendTo = (to: MemoryPipeline, ts: number, value: number) =>
      to.measure(device, [{ sensor_id: 's', ts, value }]);
    await sendTo(pipeline, NOW - 60_000, 1);
    await sendTo(pipeline, NOW, 3);
    await correct().remove(device, { from: NOW });
    const sender = isOther ? await start({ database: pipeline.client }) : pipeline;
    // The repeated sample stays removed.
    await sendTo(sender, NOW, 3);
    await sendTo(sender, NOW - 1000, 2);
    const [sensor] = await sender.store.devices.sensors(key);
    expect([sensor?.ts, sensor?.value]).toEqual([NOW - 1000, 2]);
    await sendTo(sender, NOW - 2000, 9);
    await sendTo(sender, NOW + 1, 4);
    expect((await sender.store.devices.sensors(key))[0]?.value).toBe(4);
    if (isOther) await sender.stop();
  }
});

test('Removal: of all samples: live readers get the sensor without a value', async () => {
  await send(sample(NOW, 3));
  await correct().remove('device');
  expect(published.at(-1)).toMatchObject({
    ts: null,
    value: null,
    corrected_until: expect.any(String),
  });
});

test('Removal: all samples, then a device is retired and registered again: a new sample is shown', async () => {
  await send(sample(NOW, 3));
  await correct().remove('device');
  expect(await latest()).toEqual([null, null]);
  expect(await stored()).toEqual([]);
  await send(sample(NOW, 3));
  expect(await latest()).toEqual([null, null]);
  await pipeline.ingest.retire({ ...pipeline.keyOf('device'), name: 'device' });
  clock.now += 1000;
  await send(sample(NOW + 1, 4));
  expect(await latest()).toEqual([NOW + 1, 4]);
});

test('Removal: its device is retired: the value that a correction wrote is no longer shown', async () => {
  await send(sample(NOW - 1, 1), sample(NOW, 3));
  await correct().remove('device', { from: NOW });
  await pipeline.ingest.retire({ ...pipeline.keyOf('device'), name: 'device' });
  clock.now += 1000;
  await pipeline.measure('device', [sample(NOW - HOUR_MS, 0, 'other')]);
  expect(await pipeline.latest('device')).not.toHaveProperty('s');
});

test('Removal: a dry run: counts the samples of each sensor, and removes none', async () => {
  await send(sample(NOW - 1000, 1), sample(NOW, 2), sample(NOW, 5, 'other'));
  const { remove, log } = correct();
  expect(await remove('device', { from: NOW, isDry: true })).toEqual({ devices: 1, sensors: 2, samples: 2 });
  expect(await stored()).toHaveLength(2);
  expect((await log.page(null, { from: 0, to: NOW * 2 }, { before: null, limit: 10 })).corrections).toEqual(
    [],
  );
  expect(await remove('device', { from: NOW, sensor: 's' })).toEqual({ devices: 1, sensors: 1, samples: 1 });
  const range = { from: NOW - 1, to: NOW + 1000 };
  const { corrections } = await log.page(pipeline.keyOf('device').bytes, range, { before: null, limit: 10 });
  expect(corrections).toMatchObject([{ kind: 'remove', samples: 1, by: 'test', from: NOW }]);
  expect(corrections[0]?.sensors).toHaveLength(1);
});

test('Replacement: two processes correct one instant at once: both end, and latest shows what readers see', async () => {
  await send(sample(NOW - 1, 0), sample(NOW, 3));
  const other = await start({ database: pipeline.client });
  const second = correctionsOf(other, () => clock.now);
  const first = correct();
  await Promise.all([
    first.replace('device', [sample(NOW, 5)]),
    second.replace('device', [sample(NOW, 4)]),
    first.remove('device', { from: NOW }),
    second.replace('device', [sample(NOW, -1)]),
  ]);
  const newest = (await stored()).at(-1);
  expect(await latest()).toEqual(newest);
  await other.stop();
});
