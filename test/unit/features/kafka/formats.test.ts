import { expect, test } from '@jest/globals';
import { createEncoder, createSmallEncoder } from '../../../../api/features/kafka/encoder.ts';
import { chunks, MAX_REQUEST_BYTES } from '../../../../api/features/kafka/sender.ts';
import { createTimeText } from '../../../../api/features/shared/blocks/records.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';
import { crc64 } from '../../../../schema/kafka/avro.ts';
import { decodeBatch, decodeWatermark } from '../../../../schema/kafka/decoder.ts';
import { packBlock } from '../../../../schema/packed/block.ts';
import { digestOf } from '../../../../schema/packed/pack.ts';

const BUCKET = Date.UTC(2026, 10, 21, 11);
const device = identifyDevice('pump "7"') as Identity;
const sensors = ['flow', 'heat'].map((name) => identifySensor(device.id, name) as SensorIdentity);
const times = [BUCKET, BUCKET + 1, BUCKET + 3_599_999];
const values = [
  [1.5, -0, 1e300],
  [5e-324, 0.1, -273.15],
];
const samples = packBlock(
  BUCKET,
  sensors.map(({ bytes }, index) => ({
    sensor: bytes,
    times,
    values: values[index] as number[],
    from: 0,
    to: 3,
  })),
);
const block = { bucket: BUCKET, digest: digestOf(samples), samples, committedAt: BUCKET + 5000, late: false };
const names = {
  id: device.id,
  name: device.name,
  sensor: (id: string) => sensors.find((sensor) => sensor.id === id)?.name ?? null,
};
const expected = sensors.flatMap(({ id }, index) =>
  times.map((ts, at) => ({ sensor: id, ts, value: values[index]?.[at] })),
);

test.each([
  ['json', false, 1],
  ['json', true, 6],
  ['avro', false, 1],
  ['avro', true, 6],
  ['packed', false, 1],
] as const)(
  'Kafka format %s, explode=%p: decoded: times and values are equal bit by bit',
  (format, explode, count) => {
    const records = createEncoder({ format, explode })(block, names);
    expect(records).toHaveLength(count);
    const found = records
      .flatMap((record) => decodeBatch(record, { format, bucket: BUCKET }))
      .flatMap(({ sensor, times: some, values: read }) =>
        Array.from(some, (ts, index) => ({ sensor, ts, value: read[index] })),
      );
    // toEqual distinguishes -0 from 0.
    expect(found).toEqual(expected);
  },
);

// The fingerprints come from the tests of Apache Avro (share/test/data/schema-tests.txt).
test.each([
  ['"null"', 7195948357588979594n],
  ['"int"', 8247732601305521295n],
  ['"string"', BigInt.asUintN(64, -8142146995180207161n)],
])('CRC-64-AVRO: schema %s: the fingerprint equals the published one', (schema, fingerprint) => {
  expect(crc64(Buffer.from(schema))).toBe(fingerprint);
});

test('Kafka format json: times near a change of their leading digits, in any order: each time has all its digits', () => {
  const timeText = createTimeText();
  const edges = [0, 1, 999_999, 1_000_000, 1_000_001, 1_999_999, 2_000_000, BUCKET, BUCKET + 3_599_999];
  const near = edges.flatMap((edge) => [edge + 1_000_000, edge, edge + 999_999, edge + 5]);
  const some = [...near, ...near.toReversed()];
  expect(some.map(timeText)).toEqual(some.map(String));
});

test.each(['json', 'avro', 'packed'] as const)(
  'Kafka format %s: watermark: encoded and decoded without change',
  (format) => {
    const watermark = { shard: 3, shards: 16, until: BUCKET, topics: { batches: BUCKET + 3_600_000 } };
    expect(decodeWatermark(createSmallEncoder(format).watermark(watermark))).toEqual(watermark);
  },
);

test('Kafka requests: 100 records: each request is below the size limit of Kafka, and no record is lost', () => {
  const records = Array.from({ length: 100 }, (_, index) => ({ value: Buffer.alloc(index * 1000) }));
  const requests = [...chunks(records)];
  expect(requests.flat()).toEqual(records);
  for (const request of requests) {
    const bytes = request.reduce((sum, { value }) => sum + value.length, 0);
    expect(bytes).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  }
  expect([...chunks([{ value: Buffer.alloc(2 * MAX_REQUEST_BYTES) }])]).toHaveLength(1);
});
