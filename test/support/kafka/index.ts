import { Admin, Consumer } from '@platformatic/kafka';
import { type KafkaOptions, startKafka } from '../../../infra/kafka/index.ts';
import { TOPICS, topicName } from '../../../schema/kafka/index.ts';
import { startDisposable, type TestEngine } from '../database/engine.ts';

/** `address` stays the same. */
export type TestKafka = TestEngine & { address: string };

export async function startTestKafka(options?: Partial<KafkaOptions>): Promise<TestKafka> {
  const kafka = await startDisposable((place) => startKafka({ ...place, ...options }));
  return { ...kafka, address: kafka.contactPoint };
}

export async function makeTopics(address: string, prefix: string) {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [address] });
  const topics = (Object.keys(TOPICS) as Array<keyof typeof TOPICS>).map((kind) => topicName(prefix, kind));
  await admin.createTopics({ topics, partitions: 3, replicas: 1 });
  await admin.close();
}

type ReadRecord = {
  key: string;
  value: Buffer;
  headers: Record<string, string>;
  partition: number;
  offset: bigint;
};

/** Reads a topic from its beginning to its present end. @returns in the order of each partition */
export async function readTopic(address: string, topic: string): Promise<ReadRecord[]> {
  const consumer = new Consumer({
    clientId: 'test',
    groupId: `test-${Math.random()}`,
    bootstrapBrokers: [address],
    maxWaitTime: 100,
  });
  const found: ReadRecord[] = [];
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
