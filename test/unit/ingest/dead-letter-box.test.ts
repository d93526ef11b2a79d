import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';
import { until } from '../../support/until.ts';

const { OperationTimedOutError, ResponseError } = cassandra.errors;

const NOW = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 60_000;
/** Dead letters that a registered device may fill in an hour. */
const QUOTA = 1000;
const MINUTE_MS = 60_000;

const afterwards = useCleanUps();

async function start(options?: Parameters<typeof startMemoryPipeline>[0]) {
  const pipeline = await startMemoryPipeline({ clock: () => NOW, ...options });
  afterwards(() => pipeline.stop());
  return {
    ...pipeline,
    refuse: (device: string, receivedAt = NOW) =>
      pipeline.accept(`iot/v1/${device}/measurements`, '{', { receivedAt }),
    deadLetters: async () => (await pipeline.storedDeadLetters()).reverse(),
  };
}

test('Dead letter: the database stores the row, but answers too late: the retry stores no second dead letter', async () => {
  let late = true;
  const pipeline = await start({
    async around({ table }, run) {
      const answer = await run();
      if (table === 'dead_letter' && late) {
        late = false;
        throw new OperationTimedOutError('no answer in time', '127.0.0.1:9042');
      }
      return answer;
    },
  });
  await pipeline.refuse('d');
  expect(late).toBe(false);
  expect(await pipeline.deadLetters()).toHaveLength(1);
});

test('Dead letter: the database refuses it with and without payload: the message is not acknowledged, and counts as unsettled', async () => {
  let refusals = 0;
  const pipeline = await start({
    async around({ table }, run) {
      if (table !== 'dead_letter') return run();
      refusals++;
      throw new ResponseError(0x2200, 'too large');
    },
  });
  await expect(pipeline.refuse('d')).rejects.toMatchObject({ code: 'rejected' });
  // The measurements, then the whole message: each dead letter is tried with its payload and without.
  expect(refusals).toBe(4);
  expect(await pipeline.metric('iot_ingest_messages_total{result="unsettled"}')).toBe(1);
});

test('Dead letter: process stops while the database is away: the write rejects as unavailable', async () => {
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

test('Dead letter: messages of the previous hour arrive between new ones: the quota of this hour stays exceeded', async () => {
  const pipeline = await start();
  await pipeline.measure('d', [{ sensor_id: 's', ts: NOW, value: 1 }]);
  for (let index = 0; index < QUOTA + 1; index++)
    await pipeline.refuse('d', index % 2 === 0 ? NOW + index : NOW - 60 * MINUTE_MS);
  const [newest] = await pipeline.deadLetters();
  expect(newest).toMatchObject({ device: 'd', codes: { malformed: 1 }, content: null });
});

test('Dead letter: the database rejects a value without a timestamp: the time that ingest assigned is stored', async () => {
  let isRejecting = false;
  const pipeline = await start({
    async around({ table }, run) {
      if (table === 'message' && isRejecting) throw new ResponseError(0x2200, 'no');
      return run();
    },
  });
  await pipeline.measure('d', [{ sensor_id: 's', value: 1 }]);
  isRejecting = true;
  expect(await pipeline.measure('d', [{ sensor_id: 's', value: 2 }])).toBe('refused');
  const [newest] = await pipeline.deadLetters();
  expect(newest).toMatchObject({ receivedAt: NOW + 1, codes: { rejected: 1 } });
});
