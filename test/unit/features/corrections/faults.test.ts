import { afterEach, beforeEach, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { identifySensor, type SensorIdentity } from '../../../../schema/ids.ts';
import { bucketOf, DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { correctionsOf } from '../../../support/features/corrections.ts';
import { createTestPacker } from '../../../support/history/packing.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const { OperationTimedOutError } = cassandra.errors;

const NOW = Date.UTC(2026, 4, 5, 12, 30);
const clock = { now: NOW };
/** Runs before each request to the database. */
let before: (table: string) => Promise<void> | void = () => {};

let pipeline: MemoryPipeline;
let corrections: ReturnType<typeof correctionsOf>;

const start = (options: Parameters<typeof startMemoryPipeline>[0] = {}) =>
  startMemoryPipeline({
    clock: () => clock.now,
    async around({ table }, run) {
      await before(table);
      return run();
    },
    ...options,
  });

beforeEach(async () => {
  clock.now = NOW;
  before = () => {};
  pipeline = await start();
  corrections = correctionsOf(pipeline, () => clock.now);
});
afterEach(() => pipeline.stop());

const SENSORS = Array.from({ length: 20 }, (_, index) => `s${index}`);
const sample = (ts: number, value: number, sensor: string = 's') => ({ sensor_id: sensor, ts, value });
const stored = (sensor: string = 's') => pipeline.samples('device', sensor, NOW - 24 * HOUR_MS);
const listed = async () => {
  const range = { from: NOW - DAY_MS, to: NOW + DAY_MS };
  return (await corrections.log.page(null, range, { before: null, limit: 100 })).corrections;
};

test('Removal: the client ends it early: the list has the removed samples, and its undo restores them', async () => {
  await pipeline.measure(
    'device',
    SENSORS.map((sensor) => sample(NOW, 1, sensor)),
  );
  const ending = new AbortController();
  let writes = 0;
  before = (table) => {
    if (table === 'history' && ++writes > 40) ending.abort(new Error('the client left'));
  };
  await expect(corrections.remove('device', { signal: ending.signal })).rejects.toThrow('the client left');
  before = () => {};
  const [removal] = await listed();
  expect(removal?.samples).toBeGreaterThan(0);
  expect(removal?.samples).toBeLessThan(SENSORS.length);
  expect(removal?.sensors).toHaveLength(Number(removal?.samples));
  await corrections.undoOf(removal);
  for (const sensor of SENSORS) expect(await stored(sensor)).toHaveLength(1);
});

test('Removal: its process ends: the list has all selected sensors, and its undo restores them', async () => {
  await pipeline.measure(
    'device',
    SENSORS.map((sensor) => sample(NOW, 1, sensor)),
  );
  let isListed = false;
  let hasEnded = false;
  before = (table) => {
    isListed ||= table === 'correction_log';
    // The process ends after its first rows.
    hasEnded ||= isListed && table === 'latest';
    if (!hasEnded) return;
    pipeline.ingest.abort();
    throw new OperationTimedOutError('the process ends');
  };
  await expect(corrections.remove('device')).rejects.toMatchObject({ code: 'unavailable' });
  before = () => {};
  const restarted = await start({ database: pipeline.client });
  const [removal] = await listed();
  expect(removal?.sensors).toHaveLength(SENSORS.length);
  const other = correctionsOf(restarted, () => clock.now);
  await expect(other.undoOf(removal)).rejects.toMatchObject({ code: 'busy' });
  clock.now += HOUR_MS;
  await other.undoOf(removal);
  for (const sensor of SENSORS) expect(await stored(sensor)).toHaveLength(1);
  await restarted.stop();
});

test('Undo: it waits for the database until packers delete: refused, and nothing is written', async () => {
  await pipeline.measure('device', [sample(NOW, 3)]);
  await corrections.remove('device');
  clock.now += 7 * DAY_MS - 1000;
  let isLate = false;
  before = (table) => {
    if (table !== 'history' || isLate) return;
    isLate = true;
    clock.now += DAY_MS;
  };
  await expect(corrections.undo()).rejects.toMatchObject({ code: 'too_late' });
  expect(await stored()).toEqual([]);
});

test('Undo: its sensor is no longer registered: the samples are back when it is registered again', async () => {
  await pipeline.measure('device', [sample(NOW, 3), sample(NOW, 4, 'other')]);
  await corrections.remove('device', { sensor: 's' });
  await pipeline.ingest.retire({ ...pipeline.keyOf('device'), name: 'device' });
  clock.now += 1000;
  await pipeline.measure('device', [sample(NOW + 1, 4, 'other')]);
  await corrections.undo();
  await pipeline.measure('device', [sample(NOW + 2, 5)]);
  expect(await stored()).toEqual([
    [NOW, 3],
    [NOW + 2, 5],
  ]);
});

test('Correction: the clock of its process is a minute behind: it wins against the earlier one, and can be undone', async () => {
  await pipeline.measure('device', [sample(NOW, 1)]);
  const behind = await start({ database: pipeline.client, clock: () => clock.now - 59_000 });
  const second = correctionsOf(behind, () => clock.now - 59_000);
  await corrections.replace('device', [sample(NOW, 2)]);
  await second.replace('device', [sample(NOW, 3)]);
  expect(await stored()).toEqual([[NOW, 3]]);
  const [newest] = await listed();
  await second.undoOf(newest);
  expect(await stored()).toEqual([[NOW, 2]]);
  await behind.stop();
});

test('Corrections: two processes in one microsecond: each has its own revision', async () => {
  await pipeline.measure('device', [sample(NOW, 1), sample(NOW - 1, 1)]);
  const other = await start({ database: pipeline.client });
  await Promise.all([
    corrections.replace('device', [sample(NOW, 2)]),
    correctionsOf(other, () => clock.now).replace('device', [sample(NOW - 1, 2)]),
  ]);
  expect(new Set((await listed()).map(({ revision }) => revision)).size).toBe(2);
  await other.stop();
});

test('Removal: its device is retired: after eight days no row of history has its samples', async () => {
  await pipeline.measure('device', [sample(NOW, 3)]);
  const packer = createTestPacker({ store: pipeline.store, groups: 4, clock: () => clock.now });
  clock.now += 3 * HOUR_MS;
  await packer.packDue();
  await corrections.remove('device');
  await pipeline.ingest.retire({ ...pipeline.keyOf('device'), name: 'device' });
  const { id, bytes: device } = pipeline.keyOf('device');
  const { bytes: sensor } = identifySensor(id, 's') as SensorIdentity;
  const values = async () =>
    (await pipeline.store.packed.readHour({ device, sensor }, bucketOf(NOW))).flatMap((row) => [
      ...row.values,
    ]);
  expect(await values()).toEqual([3]);
  clock.now += 8 * DAY_MS + 3 * HOUR_MS;
  await packer.packDue();
  expect(await values()).toEqual([]);
});

test('Undo of a replacement: not all of its rows are written: busy, until they are', async () => {
  await pipeline.measure('device', [sample(NOW - HOUR_MS, 1), sample(NOW, 2)]);
  let undone: Promise<unknown> | undefined;
  before = async (table) => {
    if (table !== 'history' || undone) return;
    const [replacement] = await listed();
    undone = corrections.undoOf(replacement);
    await expect(undone).rejects.toMatchObject({ code: 'busy' });
  };
  await corrections.replace('device', [sample(NOW - HOUR_MS, -1), sample(NOW, -2)]);
  expect(undone).toBeDefined();
  await corrections.undo();
  expect(await stored()).toEqual([
    [NOW - HOUR_MS, 1],
    [NOW, 2],
  ]);
});
