import { expect, test } from '@jest/globals';
import pino from 'pino';
import { KafkaSender } from '../../../../api/features/kafka/sender.ts';
import { TopicQueue } from '../../../../api/features/kafka/topic-queue.ts';
import { until } from '../../../support/until.ts';

const RECORD = {
  topic: 'millrace.batches.v1',
  key: Buffer.from('a'),
  value: Buffer.from('1'),
  headers: new Map(),
};

test('Kafka topic queue: Kafka has not yet acknowledged the only item: the item still counts as the oldest', async () => {
  const answers: Array<() => void> = [];
  const createProducer = () => ({
    send: () => new Promise((resolve) => void answers.push(() => resolve(undefined))),
    close: async () => {},
  });
  const sender = new KafkaSender({
    options: {} as never,
    logger: pino({ level: 'silent' }),
    onSent: () => {},
    onFailure: () => {},
    createProducer: createProducer as never,
  });
  const queue = new TopicQueue({
    limit: 10_000,
    sender,
    prepare: async () => true,
    toRecords: () => [RECORD],
    onSent: () => {},
  });
  queue.start();
  queue.reserve(10);
  queue.push({ size: 10, committedAt: 7 });
  await until(() => answers.length === 1);
  expect(queue.oldest).toBe(7);
  answers[0]?.();
  await until(() => queue.bytes === 0);
  expect(queue.oldest).toBeNull();
  await queue.stop(0);
  await queue.ended;
});
