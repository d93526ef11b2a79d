/**
 * Reads the events, dead letters and alarms in Kafka from the first record, and follows new records. It prints each record once. Kafka may
 * contain a record twice, with the same id.
 *
 *     node infra/kafka/examples/follow.ts 127.0.0.1:9092
 *
 * The example needs STREAM_FORMAT=json, which is the default. End it with Ctrl+C.
 */
import { Consumer } from '@platformatic/kafka';

const [bootstrap = '127.0.0.1:9092', prefix = 'millrace'] = process.argv.slice(2);

const consumer = new Consumer({
  clientId: 'follow',
  groupId: `follow-${process.pid}-${Date.now()}`,
  bootstrapBrokers: [bootstrap],
});
const topics = ['events', 'dead-letters', 'alarms'].map((kind) => `${prefix}.${kind}.v1`);
const stream = await consumer.consume({ topics, mode: 'earliest', autocommit: false });
const seen: Set<string> = new Set();
for await (const { topic, value } of stream) {
  const record = JSON.parse(String(value));
  const name = `${topic} ${record.id}`;
  if (seen.has(name)) continue;
  seen.add(name);
  console.log(JSON.stringify(record));
}
