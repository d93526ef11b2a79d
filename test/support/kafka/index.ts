import { Admin, Consumer } from '@platformatic/kafka';
import { TOPICS, topicName } from '../../../api/stream-out/index.js';
import { startKafka } from '../../../infra/kafka/index.js';
import { startDisposable } from '../database/engine.js';

/** @import { KafkaOptions } from '../../../infra/kafka/index.js' */
/** @import { TestEngine } from '../database/engine.js' */

/** A Kafka of a test. `address` stays the same. @typedef {TestEngine & { address: string }} TestKafka */

/**
 * Starts a Kafka that only the caller uses.
 *
 * @param {Partial<KafkaOptions>} [options]
 * @returns {Promise<TestKafka>}
 */
export async function startTestKafka(options) {
  const kafka = await startDisposable((place) => startKafka({ ...place, ...options }));
  return { ...kafka, address: kafka.contactPoint };
}

/** Makes all topics of a prefix. @param {string} address @param {string} prefix */
export async function makeTopics(address, prefix) {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [address] });
  const topics = /** @type {Array<keyof typeof TOPICS>} */ (Object.keys(TOPICS)).map((kind) =>
    topicName(prefix, kind),
  );
  await admin.createTopics({ topics, partitions: 3, replicas: 1 });
  await admin.close();
}

/** @typedef {{ key: string, value: Buffer, headers: Record<string, string>, partition: number, offset: bigint }} ReadRecord */

/**
 * Reads a topic from its beginning to its present end.
 *
 * @param {string} address
 * @param {string} topic
 * @returns {Promise<ReadRecord[]>} in the order of each partition
 */
export async function readTopic(address, topic) {
  const consumer = new Consumer({
    clientId: 'test',
    groupId: `test-${Math.random()}`,
    bootstrapBrokers: [address],
    maxWaitTime: 100,
  });
  /** @type {ReadRecord[]} */
  const found = [];
  try {
    const ends = (await consumer.listOffsets({ topics: [topic] })).get(topic) ?? [];
    let left = ends.reduce((sum, end) => sum + end, 0n);
    if (left === 0n) return found;
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
    for await (const { key, value, headers, partition, offset } of stream) {
      found.push({
        key: String(key),
        value,
        headers: Object.fromEntries([...headers].map(([name, text]) => [String(name), String(text)])),
        partition,
        offset,
      });
      left -= 1n;
      if (left <= 0n) break;
    }
    await stream.close();
  } finally {
    await consumer.close(true);
  }
  return found;
}
