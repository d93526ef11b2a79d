import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Refusal } from '../../../../common/errors.ts';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { correctionsOf } from '../../../support/features/corrections.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 4, 5, 12, 30);
const clock = { now: NOW };

let pipeline: MemoryPipeline;

beforeEach(async () => {
  clock.now = NOW;
  pipeline = await startMemoryPipeline({
    clock: () => clock.now,
    settings: { MQTT_REPLACE_DEVICES: 'other, meter' },
  });
});
afterEach(() => pipeline.stop());

const sample = (ts: number, value: number) => ({ sensor_id: 's', ts, value });
const stored = (device: string) => pipeline.samples(device, 's', NOW - HOUR_MS);
const entries = async () => {
  const range = { from: NOW - HOUR_MS, to: NOW + HOUR_MS };
  return (await pipeline.store.corrections.page(null, range, { before: null, limit: 10 })).corrections;
};

test('Message with the property replace: device is listed in MQTT_REPLACE_DEVICES: its value replaces the stored one', async () => {
  await pipeline.measure('meter', [sample(NOW, 100)]);
  expect(await pipeline.measure('meter', [sample(NOW, 21)], { replaces: true })).toBe('accepted');
  expect(await stored('meter')).toEqual([[NOW, 21]]);
  expect(await entries()).toMatchObject([{ kind: 'replace', by: 'mqtt', samples: 1 }]);
});

test('Message with the property replace: device is not listed: forbidden, and nothing is stored', async () => {
  await pipeline.measure('pump', [sample(NOW, 100)]);
  const refused: Refusal[] = [];
  const onRefused = (some: Refusal[]) => void refused.push(...some);
  const outcome = await pipeline.measure('pump', [sample(NOW, 21)], { replaces: true, onRefused });
  expect([outcome, refused[0]?.code]).toEqual(['forbidden', 'forbidden']);
  expect(await stored('pump')).toEqual([[NOW, 100]]);
  expect(await entries()).toEqual([]);
});

test('Message with the property replace: neither true nor false: a dead letter, and nothing is stored', async () => {
  await pipeline.measure('meter', [sample(NOW, 21)]);
  const outcome = await pipeline.measure('meter', [sample(NOW, 100)], { replaces: 'unclear' });
  expect(outcome).toBe('refused');
  expect(await stored('meter')).toEqual([[NOW, 21]]);
  expect(await pipeline.deadLetters()).toEqual([{ malformed: 1 }]);
});

test('Message with the property replace: redelivered: a second correction with the same values', async () => {
  await pipeline.measure('meter', [sample(NOW, 100)]);
  for (const dup of [false, true]) {
    await pipeline.measure('meter', [sample(NOW, 21)], { replaces: true, dup });
    expect(await stored('meter')).toEqual([[NOW, 21]]);
  }
  expect(await entries()).toHaveLength(2);
});

test('Dead letter of a replacing message: replayed: it replaces the stored value, but not that of a later correction', async () => {
  // The device is not registered, so the whole message is refused.
  await pipeline.measure('meter', [sample(NOW, 21)], { replaces: true });
  await pipeline.measure('meter', [sample(NOW, 100)]);
  const [refused] = await pipeline.storedDeadLetters();
  await pipeline.ingest.replay(refused as NonNullable<typeof refused>);
  expect(await stored('meter')).toEqual([[NOW, 21]]);
  clock.now += 500;
  await correctionsOf(pipeline, () => clock.now).replace('meter', [{ sensor_id: 's', ts: NOW, value: 7 }]);
  await pipeline.ingest.replay(refused as NonNullable<typeof refused>);
  expect(await stored('meter')).toEqual([[NOW, 7]]);
});

test('Dead letter of a replacing message: corrections of its time may be joined: it cannot be replayed', async () => {
  await pipeline.measure('meter', [sample(NOW, 21)], { replaces: true });
  await pipeline.measure('meter', [sample(NOW, 100)]);
  const [refused] = await pipeline.storedDeadLetters();
  clock.now += 7 * DAY_MS + 1;
  await expect(pipeline.ingest.replay(refused as NonNullable<typeof refused>)).rejects.toMatchObject({
    code: 'not_replayable',
  });
  expect(await stored('meter')).toEqual([[NOW, 100]]);
});

test('Dead letter of a replacing message: replayed hours later: the list has it at the time of the replay, for /changes', async () => {
  await pipeline.measure('meter', [sample(NOW, 21)], { replaces: true });
  await pipeline.measure('meter', [sample(NOW, 100)]);
  const [refused] = await pipeline.storedDeadLetters();
  clock.now += 5 * HOUR_MS;
  await pipeline.ingest.replay(refused as NonNullable<typeof refused>);
  const range = { from: clock.now, to: clock.now + 1000 };
  expect(await pipeline.store.corrections.revisions(null, range)).toMatchObject([{ revision: NOW * 1000 }]);
});
