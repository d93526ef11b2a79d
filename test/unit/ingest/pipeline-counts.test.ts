import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { useCleanUps } from '../../support/clean-ups.ts';
import { HeldWrites } from '../../support/database/held-writes.ts';
import { track } from '../../support/database/track.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';
import { until } from '../../support/until.ts';

const { OperationTimedOutError } = cassandra.errors;

const HOUR = 3_600_000;
/** The middle of an hour: all samples of a test lie in this hour, and none is late. */
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;
const SAMPLE = { sensor_id: 's', ts: NOW, value: 1 };

const afterwards = useCleanUps();

async function start(options?: Parameters<typeof startMemoryPipeline>[0]) {
  const pipeline = await startMemoryPipeline({ clock: () => NOW, ...options });
  afterwards(() => pipeline.stop());
  return pipeline;
}

test('Ingest metrics: a commit takes 100 ms: iot_ingest_commit_seconds includes this time', async () => {
  const writes = new HeldWrites();
  const pipeline = await start({ writes });
  const held = writes.hold({ write: 'write_measurements' });
  const began = performance.now();
  const message = track(() => pipeline.measure('d', [SAMPLE]));
  await held.reached();
  const reached = performance.now();
  await until(() => performance.now() - reached > 100);
  const heldSeconds = (performance.now() - reached) / 1000;
  await held.release();
  await message.acknowledged;
  const sum = Number(await pipeline.metric('iot_ingest_commit_seconds_sum'));
  expect(sum).toBeGreaterThanOrEqual(heldSeconds);
  expect(sum).toBeLessThanOrEqual((performance.now() - began) / 1000);
});

test('Ingest metrics: process stops before the commit: iot_ingest_commit_seconds counts no commit', async () => {
  const pipeline = await start({
    around: async ({ table }, run) => {
      if (table === 'message') throw new OperationTimedOutError('no answer in time', '127.0.0.1:9042');
      return run();
    },
  });
  const failed = pipeline.measure('d', [SAMPLE]).catch((error) => error);
  await until(async () => Number(await pipeline.metric('iot_ingest_retries_total')) > 0);
  pipeline.ingest.abort();
  expect(await failed).toMatchObject({ code: 'unavailable' });
  expect(await pipeline.metric('iot_ingest_commit_seconds_count')).toBe(0);
});

const settings = { AUTO_REGISTER: 'false' };
const birth = JSON.stringify({ sensors: [{ sensor_id: 's', type: 'temperature' }] });

test('Unregistered device: AUTO_REGISTER is off, birth after its first message: the waiting message is stored', async () => {
  const pipeline = await start({ settings });
  await pipeline.measure('d', [SAMPLE]);
  expect(await pipeline.deadLetters()).toEqual([{ unknown_device: 1 }]);
  await pipeline.accept('iot/v1/d/birth', birth);
  // The birth is acknowledged before the waiting messages are stored.
  const samples = () => pipeline.samples('d', 's', NOW);
  await until(async () => (await samples()).length > 0);
  expect(await samples()).toEqual([[NOW, 1]]);
});

test.each([
  ['five seconds old: iot_ingest_end_to_end_seconds is 5', -5000, 5],
  ['2 ms old: iot_ingest_end_to_end_seconds is 0.002', -2, 0.002],
  ['in the future: iot_ingest_end_to_end_seconds is 0', 5000, 0],
])('Ingest metrics: newest sample of a message is %s', async (_, offset, seconds) => {
  const pipeline = await start();
  await pipeline.measure('d', [
    { ...SAMPLE, ts: NOW + offset },
    { ...SAMPLE, ts: NOW - 60_000 },
  ]);
  expect(await pipeline.metric('iot_ingest_end_to_end_seconds_sum')).toBeCloseTo(seconds, 9);
});

test('Ingest metrics: message of several sensors: iot_ingest_end_to_end_seconds is that of the newest sample', async () => {
  const pipeline = await start();
  await pipeline.measure('d', [
    { ...SAMPLE, sensor_id: 'new', ts: NOW - 2000 },
    { ...SAMPLE, sensor_id: 'old', ts: NOW - 9000 },
  ]);
  expect(await pipeline.metric('iot_ingest_end_to_end_seconds_sum')).toBeCloseTo(2, 9);
});
