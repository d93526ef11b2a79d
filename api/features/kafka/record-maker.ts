import { defaultPartitioner } from '@platformatic/kafka';
import type { KafkaSettings } from '../../../schema/kafka/index.ts';
import { ANNOUNCED_TOPICS, type TopicKind, topicName } from '../../../schema/kafka/topics.ts';
import type { Announcement } from '../../ingest/outbox.ts';
import type { Block, LatestValue, Names, Watermark } from '../shared/blocks/records.ts';
import { recordOf } from './announced.ts';
import { createEncoder, createSmallEncoder, type HeadOf } from './encoder.ts';
import type { OutRecord } from './sender.ts';

/** `hot`: after the commit. `completion`: the hour lacked the item. `replay`: an operator sends it again. */
export type Source = 'hot' | 'completion' | 'replay';

/** Encoded once, not for each record. */
const HEADER = Object.fromEntries(
  ['format', 'digest', 'bucket', 'late', 'committed_at', 'source'].map((name) => [name, Buffer.from(name)]),
);
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NO_HEADERS = new Map();

type RecordKey = { key: Buffer; partition: number };

function recordKeyOf(id: string): RecordKey {
  const key = Buffer.from(id);
  return { key, partition: defaultPartitioner({ topic: '' }, key) };
}

/** `headOf` returns the first bytes of an Avro record, which name its schema. */
export function createRecordMaker({ format, explode, prefix }: KafkaSettings, headOf: HeadOf) {
  const encode = createEncoder({ format, explode }, headOf);
  const small = createSmallEncoder(format, headOf);
  const name = (kind: TopicKind) => topicName(prefix, kind);
  const topics = { batches: name('batches'), latest: name('latest'), watermarks: name('watermarks') };
  const formatText = Buffer.from(format);
  const smallFormatText = Buffer.from(format === 'packed' ? 'json' : format);
  /** The producer would compute the hash of a key with big integers, 1 to 2 µs, so it is kept. */
  const recordKeys: WeakMap<Names, RecordKey> = new WeakMap();

  return {
    ofBlock(block: Block, names: Names, source: Source): OutRecord[] {
      let recordKey = recordKeys.get(names);
      if (!recordKey) {
        recordKey = recordKeyOf(names.id);
        recordKeys.set(names, recordKey);
      }
      const { key, partition } = recordKey;
      const headers = new Map([
        [HEADER['format'], formatText],
        [HEADER['digest'], Buffer.from(block.digest.toString('hex'))],
        [HEADER['bucket'], Buffer.from(String(block.bucket))],
        [HEADER['late'], block.late ? TRUE : FALSE],
        [HEADER['committed_at'], Buffer.from(String(block.committedAt))],
        [HEADER['source'], Buffer.from(source)],
      ]);
      return encode(block, names).map((value) => ({
        topic: topics.batches,
        key,
        partition,
        value,
        headers: headers as Map<Buffer, Buffer>,
      }));
    },

    ofLatest: (latest: LatestValue): OutRecord => ({
      topic: topics.latest,
      key: Buffer.from(latest.sensor_id),
      value: small.latest(latest),
      headers: NO_HEADERS,
    }),

    /** A tombstone: compaction removes the earlier records of its key. */
    ofRemoved: (sensorId: string): OutRecord => ({
      topic: topics.latest,
      key: Buffer.from(sensorId),
      value: undefined,
      headers: NO_HEADERS,
    }),

    ofAnnouncement(announcement: Announcement, source: Source): OutRecord {
      const record = recordOf(announcement);
      return {
        topic: name(ANNOUNCED_TOPICS[record.kind]),
        key: Buffer.from(record.key),
        value: small.announced(record),
        headers: new Map([
          [HEADER['format'] as Buffer, smallFormatText],
          [HEADER['source'] as Buffer, Buffer.from(source)],
        ]),
      };
    },

    ofWatermark: (watermark: Watermark): OutRecord => ({
      topic: topics.watermarks,
      key: Buffer.from(String(watermark.shard)),
      value: small.watermark(watermark),
      headers: NO_HEADERS,
    }),
  };
}

export type RecordMaker = ReturnType<typeof createRecordMaker>;
