import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { useCleanUps } from '../../support/clean-ups.js';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.js';
import { until } from '../../support/until.js';

const { ResponseError } = cassandra.errors;

const NOW = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 60_000;
/** Dead letters that a registered device may fill in an hour. */
const QUOTA = 1000;
const MINUTE_MS = 60_000;

const afterwards = useCleanUps();

/** @param {Parameters<typeof startMemoryPipeline>[0]} [options] */
async function start(options) {
  const pipeline = await startMemoryPipeline({ clock: () => NOW, ...options });
  afterwards(() => pipeline.stop());
  return {
    ...pipeline,
    /** @param {string} device */
    refuse: (device, receivedAt = NOW) =>
      pipeline.accept(`iot/v1/${device}/measurements`, '{', { receivedAt }),
    /** @returns the newest first */
    async deadLetters() {
      const range = { from: NOW - MINUTE_MS, to: NOW + 10 * MINUTE_MS };
      const { deadLetters } = await pipeline.store.deadLetters.page(range, { before: null, limit: 3 });
      return deadLetters;
    },
  };
}

test('Dead letter: message is refused: it has the time of the receipt, the topic, the device and the payload', async () => {
  const pipeline = await start();
  await pipeline.refuse('d', NOW - 1234);
  expect(await pipeline.deadLetters()).toEqual([
    expect.objectContaining({
      receivedAt: NOW - 1234,
      topic: 'iot/v1/d/measurements',
      device: 'd',
      content: expect.objectContaining({ payload: Buffer.from('{') }),
    }),
  ]);
});

test('Dead letter: a registered device beyond its quota: one dead letter counts the rest, and names the device', async () => {
  const pipeline = await start();
  await pipeline.measure('d', [{ sensor_id: 's', ts: NOW, value: 1 }]);
  for (let index = 0; index < QUOTA + 1; index++) await pipeline.refuse('d', NOW + index);
  const [newest] = await pipeline.deadLetters();
  expect(newest).toMatchObject({ device: 'd', codes: { malformed: 1 }, content: null });
});

test('Dead letter: devices that are not registered: they share one quota, which is larger than that of one device', async () => {
  const pipeline = await start({ settings: { AUTO_REGISTER: 'false' } });
  for (let index = 0; index < QUOTA + 1; index++) await pipeline.refuse('stranger', NOW + index);
  const [newest] = await pipeline.deadLetters();
  expect(newest?.content).toMatchObject({ payload: Buffer.from('{') });
});

test('Dead letter: database refuses even the counts: the message is not acknowledged as settled', async () => {
  let refusals = 0;
  const pipeline = await start({
    async around({ table }, run) {
      if (table !== 'dead_letter') return run();
      refusals++;
      throw new ResponseError(0x2200, 'too large');
    },
  });
  await expect(pipeline.refuse('d')).rejects.toMatchObject({ code: 'rejected' });
  // The refused measurements, then the whole message: each with its payload, and without.
  expect(refusals).toBe(4);
  expect(await pipeline.metric('iot_ingest_messages_total{result="unsettled"}')).toBe(1);
});

test('Dead letter: process ends while the database is away: it is not written without its payload', async () => {
  let tries = 0;
  const pipeline = await start({
    async around({ table }, run) {
      if (table !== 'dead_letter') return run();
      tries++;
      throw new cassandra.errors.OperationTimedOutError('no answer in time', '127.0.0.1:9042');
    },
  });
  const failed = pipeline.refuse('d').catch((error) => error);
  await until(() => tries > 1);
  pipeline.ingest.abort();
  expect(await failed).toMatchObject({ code: 'unavailable' });
});
