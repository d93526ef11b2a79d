import { readFileSync } from 'node:fs';
import { AVRO_SCHEMAS } from '../../schema/kafka/avro.ts';
import { KAFKA_SETTINGS } from '../../schema/kafka/settings.ts';
import { COMPLETED_TOPICS, TOPICS, type TopicKind, topicName } from '../../schema/kafka/topics.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const ID = { type: 'string', format: 'uuid' };
const NAME = { type: ['string', 'null'] };
const TIME = { type: 'string', format: 'date-time' };
const OPTIONAL_TIME = { type: ['string', 'null'], format: 'date-time' };
const INSTANT = { type: 'integer', description: 'Epoch ms.' };

const record = (kind: string, properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required: ['kind', ...Object.keys(properties)],
  properties: { kind: { const: kind }, ...properties },
});

const JSON_SCHEMAS = {
  batch: record('batch', {
    device_id: ID,
    device: NAME,
    bucket: { ...TIME, description: 'The hour of all samples.' },
    digest: { type: 'string', pattern: '^[0-9a-f]{16}$' },
    late: { type: 'boolean', description: 'Committed when its hour was closing, or after.' },
    committed_at: TIME,
    sensors: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['sensor_id', 'sensor', 'samples'],
        properties: {
          sensor_id: ID,
          sensor: NAME,
          samples: {
            type: 'array',
            items: {
              type: 'array',
              description: 'Epoch ms, and the value.',
              items: { type: 'number' },
              minItems: 2,
              maxItems: 2,
            },
          },
        },
      },
    },
  }),
  sample: record('sample', {
    device_id: ID,
    device: NAME,
    sensor_id: ID,
    sensor: NAME,
    ts: INSTANT,
    value: { type: 'number' },
  }),
  latest: record('latest', {
    device_id: ID,
    device: NAME,
    sensor_id: ID,
    sensor: NAME,
    type: NAME,
    unit: NAME,
    site: NAME,
    ts: INSTANT,
    value: { type: 'number' },
  }),
  event: record('event', {
    id: { type: 'string', description: 'The same for each repetition.' },
    device_id: ID,
    device: NAME,
    event: { enum: ['birth', 'online', 'offline'] },
    session: { ...TIME, description: 'Start of the session of the device.' },
    ts: TIME,
  }),
  dead_letter: record('dead_letter', {
    id: ID,
    ts: { ...TIME, description: 'When the message was received.' },
    device: { ...NAME, description: 'As the topic has it; null: several devices are counted together.' },
    topic: { type: 'string' },
    codes: { type: 'object', additionalProperties: { type: 'integer' } },
    refused: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['index', 'code', 'path', 'rule'],
        properties: { index: { type: 'integer' }, code: { type: 'string' }, path: NAME, rule: NAME },
      },
    },
    content_type: NAME,
    size: { type: ['integer', 'null'], description: 'Bytes of the whole payload.' },
    payload_base64: { ...NAME, description: 'The first 64 KiB of the payload.' },
  }),
  alarm: record('alarm', {
    id: { type: 'string', description: 'Of the transition, the same for each repetition.' },
    event: { enum: ['opened', 'cleared', 'acknowledged', 'corrected'] },
    alarm_id: { type: 'string' },
    rule_id: ID,
    rule: { type: 'string' },
    severity: { enum: ['info', 'warning', 'critical'] },
    device_id: ID,
    device: NAME,
    sensor_id: ID,
    sensor: NAME,
    site: NAME,
    started_at: TIME,
    opened_at: TIME,
    cleared_at: OPTIONAL_TIME,
    peak: { type: ['number', 'null'] },
    state: { enum: ['open', 'cleared', 'withdrawn'] },
    seen_late: { type: 'boolean' },
    acknowledged_at: OPTIONAL_TIME,
    acknowledged_by: NAME,
    comment: NAME,
  }),
  watermark: record('watermark', {
    shard: { type: 'integer', description: 'The shard of devices, from 0.' },
    shards: { type: 'integer', description: 'All shards.' },
    until: {
      ...TIME,
      description: 'All blocks, events, dead letters and alarms of the hours before it are in their topics.',
    },
    topics: {
      type: 'object',
      description:
        'The same for each topic alone. A topic that is missing stays behind, and the others go on.',
      additionalProperties: false,
      required: [...COMPLETED_TOPICS],
      properties: Object.fromEntries(COMPLETED_TOPICS.map((topic) => [topic, TIME])),
    },
  }),
};

const DEVICE = { ...ID, description: 'The device.' };

const RECORDS: Record<TopicKind, { records: Array<keyof typeof JSON_SCHEMAS>; key: object }> = {
  batches: { records: ['batch', 'sample'], key: DEVICE },
  latest: { records: ['latest'], key: { ...ID, description: 'The sensor.' } },
  events: { records: ['event'], key: DEVICE },
  'dead-letters': {
    records: ['dead_letter'],
    key: { ...ID, description: 'The device; the id of the dead letter if no device has such a name.' },
  },
  alarms: { records: ['alarm'], key: DEVICE },
  watermarks: { records: ['watermark'], key: { type: 'string', description: 'The shard of devices.' } },
};

const HEADERS = {
  type: 'object',
  properties: {
    format: { type: 'string', enum: ['json', 'avro', 'packed'] },
    digest: { type: 'string', description: 'As hex, the first 8 bytes of SHA-256 over the block.' },
    bucket: { type: 'string', description: 'Epoch ms.' },
    late: { type: 'string', enum: ['true', 'false'] },
    committed_at: { type: 'string', description: 'Epoch ms.' },
    source: { type: 'string', enum: ['hot', 'completion', 'replay'] },
  },
};

const SMALL_HEADERS = {
  type: 'object',
  properties: {
    format: { type: 'string', enum: ['json', 'avro'] },
    source: HEADERS.properties.source,
  },
};

function headersOf(kind: TopicKind) {
  if (kind === 'batches') return { headers: HEADERS };
  return kind === 'latest' || kind === 'watermarks' ? {} : { headers: SMALL_HEADERS };
}

function messagesOf(kind: TopicKind) {
  const { records, key } = RECORDS[kind];
  const headers = headersOf(kind);
  const bindings = { kafka: { key, bindingVersion: '0.5.0' } };
  const messages = records.flatMap((name) => [
    [`${name}Json`, { contentType: 'application/json', payload: JSON_SCHEMAS[name], ...headers, bindings }],
    [
      `${name}Avro`,
      {
        contentType: 'application/vnd.apache.avro',
        payload: {
          schemaFormat: 'application/vnd.apache.avro+json;version=1.9.0',
          schema: AVRO_SCHEMAS[name],
        },
        ...headers,
        bindings,
      },
    ],
  ]);
  return Object.fromEntries(messages);
}

/** Such as `sendDeadLetters`. */
const operationOf = (kind: TopicKind): string =>
  `send${kind.replace(/(?:^|-)([a-z])/g, (_, first) => first.toUpperCase())}`;

export function kafkaTopics(): string {
  const kinds = Object.keys(TOPICS) as TopicKind[];
  const prefix = String(KAFKA_SETTINGS.settings['STREAM_TOPIC_PREFIX']?.fallback);
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Millrace: topics of Kafka',
      version,
      description:
        'STREAM_FORMAT selects the messages: JSON, or Avro in the single-object encoding, or with the framing of Confluent if SCHEMA_REGISTRY_URL is set. Records of the format packed are blocks of docs/reference/packed-form.md.',
    },
    channels: Object.fromEntries(
      kinds.map((kind) => [
        kind,
        {
          address: topicName(prefix, kind),
          title: TOPICS[kind].holds,
          messages: messagesOf(kind),
          bindings: { kafka: { bindingVersion: '0.5.0' } },
        },
      ]),
    ),
    operations: Object.fromEntries(
      kinds.map((kind) => [
        operationOf(kind),
        { action: 'send', channel: { $ref: `#/channels/${kind}` }, summary: TOPICS[kind].holds },
      ]),
    ),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
