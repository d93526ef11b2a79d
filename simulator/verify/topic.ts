import { Consumer } from '@platformatic/kafka';
import pino from 'pino';
import { MillraceError } from '../../common/errors.ts';
import { identifyDevice, identifySensor } from '../../schema/ids.ts';
import {
  connectionOptions,
  decodeBatch,
  decodeWatermark,
  type KafkaSettings,
  Schemas,
  topicName,
} from '../../schema/kafka/index.ts';
import { bucketOf } from '../../schema/rules.ts';
import type { Result } from './compare.ts';
import { entryOf, partLedger, type Sent } from './ledger-parts.ts';
import { Findings } from './report.ts';
import { SensorComparison } from './sensor.ts';

/** In the order of the records. The four arrays have equal length. `records`: number of the record of each sample */
export type Streamed = { times: number[]; values: number[]; records: number[]; hot: boolean[] };

type StreamedTopic = Map<string, Map<string, Streamed>>;

/** Timestamps that request the offsets of the end and the start of a partition (ListOffsets). */
const [LATEST, EARLIEST] = [-1n, -2n];

/** The reading of a topic ends after this time without a record. */
const SILENT_MS = 30_000;

type TopicRecord = { key: string; value: Buffer; headers: Map<string, Buffer> };

type RecordOf = Parameters<typeof decodeWatermark>[1];

export class TopicContents {
  #recordOf;
  #records = 0;
  #shards = 0;
  /** epoch ms, by shard */
  #watermarks: Map<number, number> = new Map();
  topic: StreamedTopic = new Map();

  constructor(recordOf?: RecordOf) {
    this.#recordOf = recordOf;
  }

  /** The oldest watermark of all shards, in epoch ms; null: some shard has no watermark. */
  get until(): number | null {
    const isWhole = this.#shards > 0 && this.#watermarks.size === this.#shards;
    return isWhole ? Math.min(...this.#watermarks.values()) : null;
  }

  addWatermark({ value }: Pick<TopicRecord, 'value'>) {
    const { shard, shards, topics, until } = decodeWatermark(value, this.#recordOf);
    this.#shards = shards;
    this.#watermarks.set(shard, topics['batches'] ?? until);
  }

  /** @param record of a batch topic @returns number of batches so far */
  addBatch({ key, value, headers }: TopicRecord): number {
    this.#records++;
    const hot = String(headers.get('source')) === 'hot';
    const kept = {
      format: String(headers.get('format')),
      bucket: Number(String(headers.get('bucket'))),
    };
    for (const { sensor, times, values } of decodeBatch(value, kept, this.#recordOf)) {
      const sensors = entryOf(this.topic, key, () => new Map());
      const streamed = entryOf(sensors, sensor, empty);
      for (let i = 0; i < times.length; i++) {
        streamed.times.push(Number(times[i]));
        streamed.values.push(Number(values[i]));
        streamed.records.push(this.#records);
        streamed.hot.push(hot);
      }
    }
    return this.#records;
  }
}

const PROGRESS_EVERY_RECORDS = 1000;

/**
 * From the first record to the present end. All samples are kept in memory, at about 40 bytes per sample.
 * @returns `until`: the oldest watermark of all shards, in epoch ms; null: some shard has no watermark
 * @throws `broker_away`: Kafka cannot be read, or cannot be read to the end
 */
export async function readTopics(
  stream: KafkaSettings,
  onProgress: (records: number) => void,
): Promise<{ topic: StreamedTopic; until: number | null }> {
  const schemas = await loadSchemas(stream);
  const contents = new TopicContents(schemas.recordOf);
  // Watermarks are read before batches. So the batches contain all samples that the watermarks promise.
  // The topic of latest values is compacted, and may lack its last records.
  await readAll(stream, topicName(stream.prefix, 'watermarks'), { isCompacted: true }, (record) =>
    contents.addWatermark(record),
  );
  await readAll(stream, topicName(stream.prefix, 'batches'), { isCompacted: false }, (record) => {
    const records = contents.addBatch(record);
    if (records % PROGRESS_EVERY_RECORDS === 0) onProgress(records);
  });
  return { topic: contents.topic, until: contents.until };
}

async function loadSchemas(stream: KafkaSettings) {
  const schemas = new Schemas(stream, pino({ level: 'silent' }));
  try {
    await schemas.loadAll();
  } catch (error) {
    throw new MillraceError('broker_away', error instanceof Error ? error.message : String(error));
  }
  return schemas;
}

const empty = (): Streamed => ({ times: [], values: [], records: [], hot: [] });

async function readAll(
  stream: KafkaSettings,
  topic: string,
  { isCompacted }: { isCompacted: boolean },
  onRecord: (record: TopicRecord) => void,
) {
  const consumer = new Consumer({
    ...connectionOptions(stream, 'millrace-compare'),
    groupId: `millrace-compare-${process.pid}-${Date.now()}`,
    retries: 3,
  });
  try {
    const offsets = async (timestamp: bigint) =>
      (await consumer.listOffsets({ topics: [topic], timestamp })).get(topic) ?? [];
    const [begins, ends] = [await offsets(EARLIEST), await offsets(LATEST)];
    // All records of a partition may have expired. Such a partition is not read.
    const missing = new Set(
      ends.flatMap((end, partition) => (end > (begins[partition] ?? 0n) ? [partition] : [])),
    );
    if (missing.size === 0) return;
    const records = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
    // A compacted topic may lack its last offset. So the reading also ends when no record arrives.
    let silence = setTimeout(() => void records.close(), SILENT_MS);
    try {
      for await (const { key, value, headers, partition, offset } of records) {
        clearTimeout(silence);
        silence = setTimeout(() => void records.close(), SILENT_MS);
        const named = new Map([...headers].map(([name, text]) => [String(name), text]));
        onRecord({ key: String(key), value, headers: named });
        if (offset + 1n >= (ends[partition] as bigint)) missing.delete(partition);
        if (missing.size === 0) break;
      }
    } finally {
      clearTimeout(silence);
    }
    await records.close();
    if (missing.size > 0 && !isCompacted)
      throw new Error(
        `no record came for ${SILENT_MS / 1000} s, before the end of ${missing.size} partitions`,
      );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MillraceError('broker_away', `Kafka: ${topic} cannot be read: ${reason}`, { cause: error });
  } finally {
    await consumer.close(true);
  }
}

/**
 * The records of a sensor must keep the order of its messages. A sample that is new in a record must not have been sent before a sample of
 * an earlier record of the same hour. Records of the completion come later by design.
 * @returns epoch ms of a sample out of order; null: all samples are in order
 */
export function findDisorder({ times, records, hot }: Streamed, sent: Sent): number | null {
  const messageOf: Map<number, number> = new Map();
  for (const [index, ts] of sent.times.entries()) {
    const message = Number(sent.messages[index]);
    messageOf.set(ts, Math.min(messageOf.get(ts) ?? message, message));
  }
  const seen: Set<number> = new Set();
  /** By hour: number of the newest message in earlier records, and in the present record. */
  const hours: Map<number, { before: number; now: number; record: number }> = new Map();
  for (const [index, ts] of times.entries()) {
    const message = messageOf.get(ts);
    if (seen.has(ts) || !hot[index] || message === undefined) continue;
    seen.add(ts);
    const record = Number(records[index]);
    const hour = entryOf(hours, bucketOf(ts), () => ({ before: 0, now: 0, record }));
    if (hour.record !== record) {
      hour.before = hour.now;
      hour.record = record;
    }
    if (message < hour.before) return ts;
    hour.now = Math.max(hour.now, message);
  }
  return null;
}

const NOTHING: Streamed = { times: [], values: [], records: [], hot: [] };

/**
 * Every acknowledged sample before the watermark must be in the topic with its bits. Every sample of the ledger's devices must have been
 * sent. The records of each sensor must keep the order of its messages. A sample may be in the topic more than once, always with an equal
 * value or a value that was sent for the same timestamp.
 */
export async function compareTopic({
  ledgerPath,
  topic,
  range,
  partBytes,
}: {
  ledgerPath: string;
  topic: StreamedTopic;
  /** epoch ms; `to` is usually the watermark */
  range: { from?: number; to: number };
  partBytes?: number;
}): Promise<Result> {
  const findings = new Findings();
  const counts = { devices: 0, acknowledged: 0, stored: 0 };
  const parts = await partLedger(ledgerPath, {
    onProgress: () => {},
    ...(partBytes === undefined ? {} : { partBytes }),
  });
  try {
    const { acknowledged, messages, first } = parts.overview;
    const compared = { from: range.from ?? first, to: range.to };
    for (let part = 0; part < parts.count; part += 1) {
      for (const [device, sensors] of await parts.read(part)) {
        counts.devices += 1;
        const id = identifyDevice(device)?.id ?? device;
        for (const [sensor, sent] of sensors) {
          const streamed = topic.get(id)?.get(identifySensor(id, sensor)?.id ?? sensor) ?? NOTHING;
          const comparison = new SensorComparison({
            device,
            sensor,
            sent,
            acknowledged,
            range: compared,
            findings,
          });
          comparison.addHour(Number.POSITIVE_INFINITY, [streamed]);
          counts.acknowledged += comparison.counts.acknowledged;
          counts.stored += comparison.counts.stored;
          const ts = findDisorder(streamed, sent);
          if (ts !== null)
            findings.add('disorder', {
              device,
              sensor,
              ts,
              message: 'its record comes after one of a later message',
            });
        }
      }
    }
    return { agree: findings.total() === 0, messages, ...counts, range: compared, found: findings.found };
  } finally {
    await parts.remove();
  }
}
