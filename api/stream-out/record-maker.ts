import { defaultPartitioner } from '@platformatic/kafka';
import { recordOf } from './announced.js';
import { createEncoder, createSmallEncoder } from './encoder.js';
import { ANNOUNCED_TOPICS, topicName } from './kafka/topics.js';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { Announcement } from '../ingest/outbox.js' */
/** @import { HeadOf } from './encoder.js' */
/** @import { OutRecord } from './kafka/sender.js' */
/** @import { TopicKind } from './kafka/topics.js' */
/** @import { Block, LatestValue, Names, Watermark } from './records.js' */

/**
 * Why a record is sent: its item was committed (`hot`), the completion of the hour found it missing, or an operator replays it.
 *
 * @typedef {'hot' | 'completion' | 'replay'} Source
 */

/** Names of headers, encoded once. */
const HEADER = Object.fromEntries(
  ['format', 'digest', 'bucket', 'late', 'committed_at', 'source'].map((name) => [name, Buffer.from(name)]),
);
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NO_HEADERS = new Map();

/**
 * The key of the records of a device, with its hash.
 *
 * @typedef {{ key: Buffer, partition: number }} RecordKey
 */

/** @param {string} id of a device @returns {RecordKey} */
function recordKeyOf(id) {
  const key = Buffer.from(id);
  return { key, partition: defaultPartitioner(/** @type {any} */ ({}), key) };
}

/**
 * Returns functions that make the records of all topics from committed items. A record has a topic, a key, a value and headers.
 *
 * @param {Config['stream']} stream
 * @param {HeadOf} headOf returns the first bytes of an Avro record, which name its schema
 */
export function createRecordMaker({ format, explode, prefix }, headOf) {
  const encode = createEncoder({ format, explode }, headOf);
  const small = createSmallEncoder(format, headOf);
  const name = (/** @type {TopicKind} */ kind) => topicName(prefix, kind);
  const topics = { batches: name('batches'), latest: name('latest'), watermarks: name('watermarks') };
  const formatText = Buffer.from(format);
  const smallFormatText = Buffer.from(format === 'packed' ? 'json' : format);
  /**
   * Keys by the names of their device. The producer computes the hash of a key with big integers, 1 to 2 µs, so it is kept.
   *
   * @type {WeakMap<Names, RecordKey>}
   */
  const recordKeys = new WeakMap();

  return {
    /** @param {Block} block @param {Names} names @param {Source} source @returns {OutRecord[]} */
    ofBlock(block, names, source) {
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
        headers: /** @type {Map<Buffer, Buffer>} */ (headers),
      }));
    },

    /** @param {LatestValue} latest @returns {OutRecord} */
    ofLatest: (latest) => ({
      topic: topics.latest,
      key: Buffer.from(latest.sensor_id),
      value: small.latest(latest),
      headers: NO_HEADERS,
    }),

    /** Makes a tombstone: compaction removes the earlier records of its key. @param {string} sensorId @returns {OutRecord} */
    ofRemoved: (sensorId) => ({
      topic: topics.latest,
      key: Buffer.from(sensorId),
      value: undefined,
      headers: NO_HEADERS,
    }),

    /** @param {Announcement} announcement @param {Source} source @returns {OutRecord} */
    ofAnnouncement(announcement, source) {
      const record = recordOf(announcement);
      return {
        topic: name(ANNOUNCED_TOPICS[record.kind]),
        key: Buffer.from(record.key),
        value: small.announced(record),
        headers: new Map([
          [/** @type {Buffer} */ (HEADER['format']), smallFormatText],
          [/** @type {Buffer} */ (HEADER['source']), Buffer.from(source)],
        ]),
      };
    },

    /** @param {Watermark} watermark @returns {OutRecord} */
    ofWatermark: (watermark) => ({
      topic: topics.watermarks,
      key: Buffer.from(String(watermark.shard)),
      value: small.watermark(watermark),
      headers: NO_HEADERS,
    }),
  };
}

/** @typedef {ReturnType<typeof createRecordMaker>} RecordMaker */
