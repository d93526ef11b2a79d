import { readFileSync } from 'node:fs';
import { AVRO_SCHEMAS } from '../../schema/kafka/avro.ts';
import { KAFKA_SETTINGS } from '../../schema/kafka/settings.ts';
import { COMPLETED_TOPICS, TOPICS, type TopicKind, topicName } from '../../schema/kafka/topics.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

type Property = Record<string, unknown>;

const ID = { type: 'string', format: 'uuid' };
const TIME = { type: 'string', format: 'date-time' };
const INSTANT = { type: 'integer', description: 'Epoch ms.' };

/** JSON types by those of Avro. */
const TYPES: Record<string, string> = { int: 'integer', long: 'integer', double: 'number' };

/** Times are texts in JSON. */
function propertyOf(type: unknown): Property {
  if (typeof type === 'string') return { type: TYPES[type] ?? type };
  if (Array.isArray(type)) {
    const { type: name, ...rest } = propertyOf(type.find((member) => member !== 'null'));
    return { type: type[0] === 'null' && type.length > 1 ? [name, 'null'] : name, ...rest };
  }
  const { type: kind, items, values, fields = [] } = type as Record<string, never>;
  if (kind === 'long') return TIME;
  if (kind === 'array') return { type: 'array', items: propertyOf(items) };
  if (kind === 'map') return { type: 'object', additionalProperties: propertyOf(values) };
  return objectOf(propertiesOf(fields));
}

const propertiesOf = (fields: Array<{ name: string; type: unknown }>) =>
  Object.fromEntries(fields.map(({ name, type }) => [name, propertyOf(type)]));

const objectOf = (properties: Record<string, Property>): Property => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

const SAMPLES = {
  type: 'array',
  items: {
    type: 'array',
    description: 'Epoch ms, and the value.',
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
  },
};

/** Differences between JSON and Avro, by record. */
const MORE: Record<keyof typeof AVRO_SCHEMAS, Record<string, Property>> = {
  batch: {
    bucket: { description: 'The hour of all samples.' },
    digest: { pattern: '^[0-9a-f]{16}$' },
    late: { description: 'Committed when its hour was closing, or after.' },
    sensors: {
      items: objectOf({ sensor_id: ID, sensor: { type: ['string', 'null'] }, samples: SAMPLES }),
    },
  },
  sample: { ts: INSTANT },
  latest: { ts: INSTANT },
  event: {
    id: { description: 'The same for each repetition.' },
    event: { enum: ['birth', 'online', 'offline'] },
    session: { description: 'Start of the session of the device.' },
  },
  dead_letter: {
    id: ID,
    ts: { description: 'When the message was received.' },
    device: { description: 'As the topic has it; null: several devices are counted together.' },
    size: { description: 'Bytes of the whole payload.' },
    payload_base64: { description: 'The first 64 KiB of the payload.' },
  },
  alarm: {
    id: { description: 'Of the transition, the same for each repetition.' },
    event: { enum: ['opened', 'cleared', 'acknowledged', 'corrected'] },
    severity: { enum: ['info', 'warning', 'critical'] },
    state: { enum: ['open', 'cleared', 'withdrawn'] },
  },
  correction: {
    id: { ...ID, description: 'The same for each repetition.' },
    correction: { enum: ['replace', 'remove', 'undo'] },
    sensor_ids: { items: ID },
    from: { description: 'Start of the corrected range.' },
    to: { description: 'End of the corrected range, not included.' },
    samples: { description: 'Samples that got a value, or were removed.' },
    by: { description: 'Kind, fingerprint and address of the caller.' },
    undoes: { description: 'The undone correction, for `undo`.' },
  },
  watermark: {
    shard: { description: 'The shard of devices, from 0.' },
    shards: { description: 'All shards.' },
    until: {
      description:
        'All blocks, events, dead letters, alarms and corrections of the hours before it are in their topics.',
    },
    topics: {
      description:
        'The same for each topic alone. A topic that is missing stays behind, and the others go on.',
      ...objectOf(Object.fromEntries(COMPLETED_TOPICS.map((topic) => [topic, TIME]))),
    },
  },
};

function jsonSchemaOf(record: keyof typeof AVRO_SCHEMAS) {
  const properties = Object.entries(propertiesOf(AVRO_SCHEMAS[record].fields)).map(([name, property]) => {
    const more = MORE[record][name] ?? (/^(?:device|sensor|rule)_id$/.test(name) ? ID : {});
    return [name, more['type'] ? more : { ...property, ...more }];
  });
  return objectOf({ kind: { const: record }, ...Object.fromEntries(properties) });
}

const DEVICE = { ...ID, description: 'The device.' };

const RECORDS: Record<TopicKind, { records: Array<keyof typeof AVRO_SCHEMAS>; key: object }> = {
  batches: { records: ['batch', 'sample'], key: DEVICE },
  latest: { records: ['latest'], key: { ...ID, description: 'The sensor.' } },
  events: { records: ['event'], key: DEVICE },
  'dead-letters': {
    records: ['dead_letter'],
    key: { ...ID, description: 'The device; the id of the dead letter if no device has such a name.' },
  },
  alarms: { records: ['alarm'], key: DEVICE },
  corrections: { records: ['correction'], key: DEVICE },
  watermarks: { records: ['watermark'], key: { type: 'string', description: 'The shard of devices.' } },
};

const SOURCE = { type: 'string', enum: ['hot', 'completion', 'replay'] };

const HEADERS: Record<string, Property> = {
  format: { type: 'string', enum: ['json', 'avro', 'packed'] },
  digest: { type: 'string', description: 'As hex, the first 8 bytes of SHA-256 over the block.' },
  bucket: { type: 'string', description: 'Epoch ms.' },
  late: { type: 'string', enum: ['true', 'false'] },
  committed_at: { type: 'string', description: 'Epoch ms.' },
  source: SOURCE,
};

function headersOf(kind: TopicKind) {
  if (kind === 'latest' || kind === 'watermarks') return {};
  const small = { format: { type: 'string', enum: ['json', 'avro'] }, source: SOURCE };
  return { headers: { type: 'object', properties: kind === 'batches' ? HEADERS : small } };
}

function messagesOf(kind: TopicKind) {
  const { records, key } = RECORDS[kind];
  const headers = headersOf(kind);
  const bindings = { kafka: { key, bindingVersion: '0.5.0' } };
  const messages = records.flatMap((name) => [
    [`${name}Json`, { contentType: 'application/json', payload: jsonSchemaOf(name), ...headers, bindings }],
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
