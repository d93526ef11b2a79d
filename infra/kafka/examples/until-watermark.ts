/**
 * Reads all batches in Kafka up to a given time. It stops when the watermarks show that no record before this time is missing.
 *
 *     node infra/kafka/examples/until-watermark.ts 127.0.0.1:9092 2026-11-22T10:00:00Z
 *
 * The example prints one JSON line for each sample. Kafka may contain a sample twice, so the example uses sensor and time as key.
 * Set STREAM_FORMAT=json and STREAM_EXPLODE=false, which are the defaults.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Consumer } from '@platformatic/kafka';

const [bootstrap = '127.0.0.1:9092', end = new Date().toISOString(), prefix = 'millrace'] =
  process.argv.slice(2);
const until = Date.parse(end);

type Watermark = { shard: number; shards: number; topics: { batches: string } };
type Batch = {
  device: string | null;
  sensors: Array<{ sensor_id: string; sensor: string | null; samples: Array<[number, number]> }>;
};

async function readToEnd<T>(topic: string, onRecord: (value: T) => void) {
  const consumer = new Consumer({
    clientId: 'until-watermark',
    groupId: `until-watermark-${process.pid}-${Date.now()}`,
    bootstrapBrokers: [bootstrap],
  });
  const ends = (await consumer.listOffsets({ topics: [topic] })).get(topic) ?? [];
  const open = new Set(ends.flatMap((offset, partition) => (offset > 0n ? [partition] : [])));
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
  if (open.size > 0) {
    for await (const { value, partition, offset } of stream) {
      onRecord(JSON.parse(String(value)));
      if (offset + 1n >= (ends[partition] as bigint)) open.delete(partition);
      if (open.size === 0) break;
    }
  }
  await stream.close();
  await consumer.close(true);
}

/** @returns whether the records of all shards (groups of devices) are complete up to the given time */
async function isComplete(): Promise<boolean> {
  const newest: Map<number, Watermark> = new Map();
  await readToEnd<Watermark>(`${prefix}.watermarks.v1`, (watermark) =>
    newest.set(watermark.shard, watermark),
  );
  const all = [...newest.values()];
  return (
    all.length > 0 &&
    all.length === all[0]?.shards &&
    all.every(({ topics }) => Date.parse(topics.batches) >= until)
  );
}

while (!(await isComplete())) await sleep(10_000);
const samples: Map<string, object> = new Map();
await readToEnd<Batch>(`${prefix}.batches.v1`, ({ device, sensors }) => {
  for (const { sensor_id: id, sensor, samples: some } of sensors) {
    for (const [ts, value] of some) if (ts < until) samples.set(`${id} ${ts}`, { device, sensor, ts, value });
  }
});
for (const sample of samples.values()) console.log(JSON.stringify(sample));
