import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { recordOf } from '../../../../api/features/kafka/announced.ts';
import { createEncoder, createSmallEncoder } from '../../../../api/features/kafka/encoder.ts';
import { MAX_REQUEST_BYTES } from '../../../../api/features/kafka/sender.ts';
import { correctionRecord } from '../../../../api/features/shared/corrections/index.ts';
import type { Announcement } from '../../../../api/ingest/outbox.ts';
import { storedForm } from '../../../../api/store/dead-letters.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { uuidBytes } from '../../../../schema/ids.ts';
import { decodeAvro } from '../../../../schema/kafka/avro.ts';
import { KAFKA_SETTINGS } from '../../../../schema/kafka/index.ts';
import { topicName, usedTopics } from '../../../../schema/kafka/topics.ts';
import { packBlock } from '../../../../schema/packed/block.ts';
import { kafkaTopics } from '../../../../tools/reference/kafka-topics.ts';

const path = 'docs/reference/kafka-topics.asyncapi.json';
const { channels } = JSON.parse(kafkaTopics());

test(`${path}: npm run docs:reference: the output equals the file`, () => {
  expect(readFileSync(path, 'utf8')).toBe(kafkaTopics());
});

test(`${path}: described topics: those that Millrace writes`, () => {
  const stream = readSettings({}, { envFile: '' }).of(KAFKA_SETTINGS);
  const addresses = Object.values<{ address: string }>(channels).map(({ address }) => address);
  expect(addresses).toEqual(usedTopics(stream).map((kind) => topicName('millrace', kind)));
});

const bucket = Date.UTC(2026, 10, 21, 11);
const samples = packBlock(bucket, [
  { sensor: Buffer.alloc(16, 1), times: [bucket], values: [1.5], from: 0, to: 1 },
]);
const block = { bucket, digest: Buffer.alloc(8), samples, committedAt: bucket, late: false };
const id = '0b5bd4a2-6f43-5b0c-8f0c-0d0f5a7e7e51';
const names = { id, name: null, sensor: () => 'flow' };
const small = createSmallEncoder('json');
const latest = {
  ...{ device_id: id, device: 'pump', sensor_id: id, sensor: 'flow', type: null, unit: null, site: null },
  ...{ ts: bucket, value: -0.5 },
};

const ANNOUNCED: Record<string, Announcement> = {
  event: {
    kind: 'event',
    id: `${id}.5.birth`,
    group: 0,
    device: { id, name: 'pump' },
    event: { kind: 'birth', session: bucket, ts: bucket },
  },
  deadLetter: {
    kind: 'dead_letter',
    id,
    group: 0,
    deadLetter: storedForm({
      receivedAt: bucket,
      device: 'pump',
      topic: 'iot/v1/pump/measurements',
      codes: { malformed: 1 },
      content: {
        contentType: undefined,
        payload: Buffer.from('{'),
        refused: [{ index: -1, code: 'malformed' }],
      },
    }),
  },
  alarm: {
    kind: 'alarm',
    id: 'x',
    group: 0,
    item: {
      key: id,
      content: {
        ...{ id: 'x', event: 'opened', alarm_id: 'a', rule_id: id, rule: 'hot', severity: 'critical' },
        ...{ device_id: id, device: 'pump', sensor_id: id, sensor: 'flow', site: null },
        ...{ started_at: bucket, opened_at: bucket, cleared_at: null, peak: 1.5, state: 'open' },
        ...{ seen_late: false, acknowledged_at: null, acknowledged_by: null, comment: null },
      },
      times: ['started_at', 'opened_at', 'cleared_at', 'acknowledged_at'],
    },
  },
  correction: {
    kind: 'correction',
    id,
    group: 0,
    item: correctionRecord({
      ...{ id: uuidBytes(id), revision: bucket * 1000, device: id, kind: 'undo', sensors: [id] },
      ...{ from: bucket, to: bucket + 1, samples: 1, by: 'token', reason: null, undoes: uuidBytes(id) },
      runningUntil: 0,
    }),
  },
};
const announced = (name: string) => recordOf(ANNOUNCED[name] as Announcement);

test.each(Object.keys(ANNOUNCED))(`Kafka format avro: %s record: decoded to an equal record`, (name) => {
  const { kind, content } = announced(name);
  const decoded = decodeAvro(createSmallEncoder('avro').announced(announced(name)));
  expect(decoded.record).toBe(kind);
  expect(JSON.parse(JSON.stringify(decoded.value))).toEqual(content);
});

test('Kafka dead letters: a topic of 65,535 control characters: the record fits into one Kafka request', () => {
  const topic = '\u0007'.repeat(65_535);
  const deadLetter = storedForm({
    receivedAt: bucket,
    device: topic,
    topic,
    codes: { malformed: 1 },
    content: {
      contentType: undefined,
      payload: Buffer.alloc(65_536),
      refused: Array.from({ length: 100 }, () => ({ index: 0, code: 'malformed', rule: 'x'.repeat(60_000) })),
    },
  });
  const record = recordOf({ kind: 'dead_letter', id, group: 0, deadLetter });
  expect(createSmallEncoder('json').announced(record).length).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  expect(record.content['refused']).toBeNull();
});

test.each([
  ['events', 'eventJson', small.announced(announced('event'))],
  ['dead-letters', 'dead_letterJson', small.announced(announced('deadLetter'))],
  ['alarms', 'alarmJson', small.announced(announced('alarm'))],
  ['corrections', 'correctionJson', small.announced(announced('correction'))],
  ['batches', 'batchJson', createEncoder({ format: 'json', explode: false })(block, names)[0]],
  ['batches', 'sampleJson', createEncoder({ format: 'json', explode: true })(block, names)[0]],
  ['latest', 'latestJson', small.latest(latest)],
  [
    'watermarks',
    'watermarkJson',
    small.watermark({
      shard: 1,
      shards: 2,
      until: bucket,
      topics: {
        batches: bucket,
        events: bucket,
        'dead-letters': bucket,
        alarms: bucket,
        corrections: bucket,
      },
    }),
  ],
])(`${path}: channel %s, message %s: a record matches its JSON schema`, (channel, message, bytes) => {
  const validate = new Ajv({ validateFormats: false }).compile(channels[channel].messages[message].payload);
  validate(JSON.parse(String(bytes)));
  expect(validate.errors).toBeNull();
});
