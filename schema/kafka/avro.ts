import type { Schema, Type } from 'avsc';
import avro from 'avsc';

/**
 * Avro: the schemas of records, and the single-object encoding, which needs no registry. Each record names its schema by a fingerprint:
 *
 *     +-------+----------------------+---------------+
 *     | C3 01 | CRC-64-AVRO, 8 bytes | binary Avro   |   the fingerprint is little-endian, of the schema's canonical form
 *     +-------+----------------------+---------------+
 *
 * Avro 1.12, "Single-object encoding" and "Schema fingerprints".
 */

const NAMESPACE = 'millrace.v1';
const INSTANT = { type: 'long', logicalType: 'timestamp-millis' };
const NAME = ['null', 'string'];

export const AVRO_SCHEMAS = {
  batch: {
    type: 'record',
    name: 'Batch',
    namespace: NAMESPACE,
    fields: [
      { name: 'device_id', type: 'string' },
      { name: 'device', type: NAME },
      { name: 'bucket', type: INSTANT },
      { name: 'digest', type: 'string' },
      { name: 'late', type: 'boolean' },
      { name: 'committed_at', type: INSTANT },
      {
        name: 'sensors',
        type: {
          type: 'array',
          items: {
            type: 'record',
            name: 'Sensor',
            fields: [
              { name: 'sensor_id', type: 'string' },
              { name: 'sensor', type: NAME },
              { name: 'times', type: { type: 'array', items: INSTANT } },
              { name: 'values', type: { type: 'array', items: 'double' } },
            ],
          },
        },
      },
    ],
  },
  sample: {
    type: 'record',
    name: 'Sample',
    namespace: NAMESPACE,
    fields: [
      { name: 'device_id', type: 'string' },
      { name: 'device', type: NAME },
      { name: 'sensor_id', type: 'string' },
      { name: 'sensor', type: NAME },
      { name: 'ts', type: INSTANT },
      { name: 'value', type: 'double' },
    ],
  },
  latest: {
    type: 'record',
    name: 'Latest',
    namespace: NAMESPACE,
    fields: [
      { name: 'device_id', type: 'string' },
      { name: 'device', type: NAME },
      { name: 'sensor_id', type: 'string' },
      { name: 'sensor', type: NAME },
      { name: 'type', type: NAME },
      { name: 'unit', type: NAME },
      { name: 'site', type: NAME },
      { name: 'ts', type: INSTANT },
      { name: 'value', type: 'double' },
    ],
  },
  event: {
    type: 'record',
    name: 'Event',
    namespace: NAMESPACE,
    fields: [
      { name: 'id', type: 'string' },
      { name: 'device_id', type: 'string' },
      { name: 'device', type: NAME },
      { name: 'event', type: 'string' },
      { name: 'session', type: INSTANT },
      { name: 'ts', type: INSTANT },
    ],
  },
  dead_letter: {
    type: 'record',
    name: 'DeadLetter',
    namespace: NAMESPACE,
    fields: [
      { name: 'id', type: 'string' },
      { name: 'ts', type: INSTANT },
      { name: 'device', type: NAME },
      { name: 'topic', type: 'string' },
      { name: 'codes', type: { type: 'map', values: 'int' } },
      {
        name: 'refused',
        type: [
          'null',
          {
            type: 'array',
            items: {
              type: 'record',
              name: 'Refusal',
              fields: [
                { name: 'index', type: 'int' },
                { name: 'code', type: 'string' },
                { name: 'path', type: NAME },
                { name: 'rule', type: NAME },
              ],
            },
          },
        ],
      },
      { name: 'content_type', type: NAME },
      { name: 'size', type: ['null', 'int'] },
      { name: 'payload_base64', type: NAME },
    ],
  },
  alarm: {
    type: 'record',
    name: 'Alarm',
    namespace: NAMESPACE,
    fields: [
      { name: 'id', type: 'string' },
      { name: 'event', type: 'string' },
      { name: 'alarm_id', type: 'string' },
      { name: 'rule_id', type: 'string' },
      { name: 'rule', type: 'string' },
      { name: 'severity', type: 'string' },
      { name: 'device_id', type: 'string' },
      { name: 'device', type: NAME },
      { name: 'sensor_id', type: 'string' },
      { name: 'sensor', type: NAME },
      { name: 'site', type: NAME },
      { name: 'started_at', type: INSTANT },
      { name: 'opened_at', type: INSTANT },
      { name: 'cleared_at', type: ['null', INSTANT] },
      { name: 'peak', type: ['null', 'double'] },
      { name: 'state', type: 'string' },
      { name: 'seen_late', type: 'boolean' },
      { name: 'acknowledged_at', type: ['null', INSTANT] },
      { name: 'acknowledged_by', type: NAME },
      { name: 'comment', type: NAME },
    ],
  },
  correction: {
    type: 'record',
    name: 'Correction',
    namespace: NAMESPACE,
    fields: [
      { name: 'id', type: 'string' },
      { name: 'correction', type: 'string' },
      { name: 'accepted_at', type: INSTANT },
      { name: 'device_id', type: 'string' },
      { name: 'sensor_ids', type: { type: 'array', items: 'string' } },
      { name: 'from', type: INSTANT },
      { name: 'to', type: INSTANT },
      { name: 'samples', type: 'long' },
      { name: 'by', type: 'string' },
      { name: 'reason', type: NAME },
      { name: 'undoes', type: NAME },
    ],
  },
  watermark: {
    type: 'record',
    name: 'Watermark',
    namespace: NAMESPACE,
    fields: [
      { name: 'shard', type: 'int' },
      { name: 'shards', type: 'int' },
      { name: 'until', type: INSTANT },
      { name: 'topics', type: { type: 'map', values: INSTANT } },
    ],
  },
};

export type AvroRecord = keyof typeof AVRO_SCHEMAS;

interface Values {
  sample: { sensor_id: string; ts: number; value: number };
  batch: { sensors: Array<{ sensor_id: string; times: number[]; values: number[] }> };
  watermark: { shard: number; shards: number; until: number; topics: Record<string, number> };
}

type Decoded = {
  [R in AvroRecord]: { record: R; value: R extends keyof Values ? Values[R] : object };
}[AvroRecord];

/** CRC-64-AVRO of an empty input, which is also the polynomial. */
const EMPTY = 0xc15d213aa4d7a795n;

const TABLE = Array.from({ length: 256 }, (_, index) => {
  let fingerprint = BigInt(index);
  for (let bit = 0; bit < 8; bit++) fingerprint = (fingerprint >> 1n) ^ (EMPTY & -(fingerprint & 1n));
  return fingerprint;
});

export function crc64(bytes: Buffer): bigint {
  let fingerprint = EMPTY;
  for (const byte of bytes) {
    fingerprint = (fingerprint >> 8n) ^ (TABLE[Number((fingerprint ^ BigInt(byte)) & 0xffn)] as bigint);
  }
  return fingerprint;
}

const fingerprintOf = (type: Type): bigint => crc64(Buffer.from(JSON.stringify(type.schema())));

function compile(record: AvroRecord): { head: Buffer; type: Type } {
  const type = avro.Type.forSchema(AVRO_SCHEMAS[record] as Schema, { wrapUnions: false });
  const head = Buffer.from([0xc3, 0x01, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64LE(fingerprintOf(type), 2);
  return { head, type };
}

const COMPILED = Object.fromEntries(
  Object.keys(AVRO_SCHEMAS).map((record) => [record, compile(record as AvroRecord)]),
) as Record<AvroRecord, ReturnType<typeof compile>>;

/** First bytes of the single-object encoding, which name the record's schema. */
export const singleObjectHead = (record: AvroRecord): Buffer => COMPILED[record].head;

export const encodeAvro = (
  record: AvroRecord,
  value: object,
  head: Buffer = singleObjectHead(record),
): Buffer => Buffer.concat([head, COMPILED[record].type.toBuffer(value)]);

/** Magic byte of Confluent's framing. The id of the schema in the registry follows in 4 bytes, big-endian. */
const CONFLUENT_MAGIC = 0;

const CONFLUENT_HEAD_BYTES = 5;

/** First bytes of a record in Confluent's framing. */
export function confluentHead(id: number): Buffer {
  const head = Buffer.alloc(CONFLUENT_HEAD_BYTES, CONFLUENT_MAGIC);
  head.writeUInt32BE(id, 1);
  return head;
}

/**
 * Reads the single-object encoding and Confluent's framing. `recordOfId` finds the kind of record by a schema id of
 * that framing.
 * @throws {RangeError} for bytes that name no schema of Millrace
 */
export function decodeAvro(
  bytes: Buffer,
  recordOfId: (id: number) => AvroRecord | null = () => null,
): Decoded {
  if (bytes[0] === CONFLUENT_MAGIC) {
    const id = bytes.readUInt32BE(1);
    const record = recordOfId(id);
    if (!record) throw new RangeError(`no schema of these settings has the id ${id}`);
    const value: unknown = COMPILED[record].type.fromBuffer(bytes.subarray(CONFLUENT_HEAD_BYTES));
    return { record, value } as Decoded;
  }
  for (const [record, { head, type }] of Object.entries(COMPILED)) {
    if (bytes.subarray(0, head.length).equals(head))
      return { record, value: type.fromBuffer(bytes.subarray(head.length)) as unknown } as Decoded;
  }
  throw new RangeError('no schema has the fingerprint of this record');
}
