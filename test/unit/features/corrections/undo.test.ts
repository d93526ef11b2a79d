import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { correctionsOf } from '../../../support/features/corrections.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 4, 5, 12, 30);
const clock = { now: NOW };

let pipeline: MemoryPipeline;
let corrections: ReturnType<typeof correctionsOf>;

beforeEach(async () => {
  clock.now = NOW;
  pipeline = await startMemoryPipeline({ clock: () => clock.now });
  corrections = correctionsOf(pipeline, () => clock.now);
});
afterEach(() => pipeline.stop());

const sample = (ts: number, value: number) => ({ sensor_id: 's', ts, value });
const send = (...samples: Array<ReturnType<typeof sample>>) => pipeline.measure('device', samples);

const listed = async () => {
  const range = { from: NOW - DAY_MS, to: NOW + DAY_MS };
  return (await corrections.log.page(null, range, { before: null, limit: 100 })).corrections;
};

/** The newest value must be the last sample. */
async function shown() {
  const samples = await pipeline.samples('device', 's', NOW - 24 * HOUR_MS);
  expect((await pipeline.latest('device'))['s']).toEqual(samples.at(-1) ?? [null, null]);
  return samples;
}

test('Undo of a removal: a sample arrived meanwhile: all samples are back; an undo of the undo removes them again', async () => {
  await send(sample(NOW - 3 * HOUR_MS, 1), sample(NOW - 1000, 2), sample(NOW, 3));
  await corrections.remove('device');
  expect(await shown()).toEqual([]);
  await send(sample(NOW - 500, 4));
  await corrections.undo();
  const before = [
    [NOW - 3 * HOUR_MS, 1],
    [NOW - 1000, 2],
    [NOW - 500, 4],
    [NOW, 3],
  ];
  expect(await shown()).toEqual(before);
  expect(await corrections.undo()).toMatchObject({ kind: 'undo', samples: 3 });
  expect(await shown()).toEqual([]);
  await corrections.undo();
  expect(await shown()).toEqual(before);
});

test('Undo of a replacement: a later correction exists: it stays; the old value is back, and an added instant is gone', async () => {
  await send(sample(NOW - 1000, 100), sample(NOW - 500, 5));
  await corrections.replace('device', [sample(NOW - 1000, 21), sample(NOW, 7)]);
  const range = { from: 0, to: NOW * 2 };
  const [first] = (await corrections.log.page(null, range, { before: null, limit: 1 })).corrections;
  clock.now += 1000;
  await corrections.replace('device', [sample(NOW - 500, -5)]);
  expect(await shown()).toEqual([
    [NOW - 1000, 21],
    [NOW - 500, -5],
    [NOW, 7],
  ]);
  await corrections.undoOf(first);
  expect(await shown()).toEqual([
    [NOW - 1000, 100],
    [NOW - 500, -5],
  ]);
});

test('Undo: repeated: the list has one, and its undo restores the correction', async () => {
  await send(sample(NOW, 100));
  await corrections.replace('device', [sample(NOW, 21)]);
  const [replacement] = await listed();
  const undo = await corrections.undoOf(replacement);
  clock.now += 1000;
  expect((await corrections.undoOf(replacement)).id).toEqual(undo.id);
  expect(await shown()).toEqual([[NOW, 100]]);
  await corrections.undoOf(undo);
  expect(await shown()).toEqual([[NOW, 21]]);
  const second = await corrections.undoOf(replacement);
  expect(second.id).not.toEqual(undo.id);
  expect(await shown()).toEqual([[NOW, 100]]);
  expect(await listed()).toHaveLength(4);
});

test('Undo: two processes at once: the list has one, and its undo restores the correction', async () => {
  await send(sample(NOW, 100));
  await corrections.replace('device', [sample(NOW, 21)]);
  const [replacement] = await listed();
  const other = await startMemoryPipeline({ clock: () => clock.now, database: pipeline.client });
  const answers = await Promise.all([
    corrections.undoOf(replacement),
    corrections.undoOf(replacement),
    correctionsOf(other, () => clock.now).undoOf(replacement),
  ]);
  expect(new Set(answers.map(({ id }) => id.toString('hex'))).size).toBe(1);
  expect(await listed()).toHaveLength(2);
  expect(await shown()).toEqual([[NOW, 100]]);
  clock.now += 1000;
  await corrections.undo();
  expect(await shown()).toEqual([[NOW, 21]]);
  await other.stop();
});

test('Undo: after seven days: refused', async () => {
  await send(sample(NOW, 3));
  await corrections.remove('device');
  clock.now += 7 * DAY_MS + 1;
  await expect(corrections.undo()).rejects.toMatchObject({ code: 'too_late' });
});
