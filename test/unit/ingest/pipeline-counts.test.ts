import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { useCleanUps } from '../../support/clean-ups.ts';
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

test('Ingest metrics: message of several sensors: iot_ingest_end_to_end_seconds is that of the newest sample', async () => {
  const pipeline = await start();
  await pipeline.measure('d', [
    { ...SAMPLE, sensor_id: 'new', ts: NOW - 2000 },
    { ...SAMPLE, sensor_id: 'old', ts: NOW - 9000 },
  ]);
  expect(await pipeline.metric('iot_ingest_end_to_end_seconds_sum')).toBeCloseTo(2, 9);
});
