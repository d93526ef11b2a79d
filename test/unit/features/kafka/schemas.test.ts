import { afterEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { readSettings } from '../../../../common/settings/index.ts';
import { AVRO_SCHEMAS, decodeAvro, encodeAvro, singleObjectHead } from '../../../../schema/kafka/avro.ts';
import { KAFKA_SETTINGS } from '../../../../schema/kafka/index.ts';
import { Schemas } from '../../../../schema/kafka/schemas.ts';
import { startTestRegistry, type TestRegistry } from '../../../support/kafka/schema-registry.ts';
import { until } from '../../../support/until.ts';

const started: TestRegistry[] = [];
afterEach(() => Promise.all(started.splice(0).map((registry) => registry.stop())));

async function startRegistry(options?: Parameters<typeof startTestRegistry>[0]) {
  const registry = await startTestRegistry(options);
  started.push(registry);
  return registry;
}

function createSchemas(settings: Record<string, string>) {
  const reasons: string[] = [];
  const stream = readSettings(
    { STREAM_KAFKA: '127.0.0.1', STREAM_FORMAT: 'avro', ...settings },
    { envFile: '' },
  ).of(KAFKA_SETTINGS);
  const logger = pino({}, { write: (line) => void reasons.push(JSON.parse(line).reason) });
  return { schemas: new Schemas(stream, logger), reasons };
}

const watermark = { shard: 1, shards: 2, until: 5, topics: { batches: 5 } };

test('Schema registry: it has no subjects yet: each topic registers its schema, and records begin with the schema id', async () => {
  const registry = await startRegistry();
  const { schemas } = createSchemas({ SCHEMA_REGISTRY_URL: `${registry.url}/`, STREAM_EXPLODE: 'true' });
  const found = await schemas.loadAll();
  expect(found.map(({ subject }) => subject)).toEqual(
    ['batches', 'latest', 'events', 'dead-letters', 'alarms', 'corrections', 'watermarks'].map(
      (topic) => `millrace.${topic}.v1-value`,
    ),
  );
  expect(found.every(({ isNew }) => isNew)).toBe(true);
  const [batches] = registry.subjects.get('millrace.batches.v1-value') ?? [];
  expect(JSON.parse(String(batches?.schema))).toEqual(AVRO_SCHEMAS.sample);
  const id = Number(found.at(-1)?.id);
  const record = encodeAvro('watermark', watermark, schemas.headOf('watermark'));
  expect([...record.subarray(0, 5)]).toEqual([0, 0, 0, 0, id]);
  expect(decodeAvro(record, schemas.recordOf)).toEqual({ record: 'watermark', value: watermark });
  expect(() => decodeAvro(Buffer.from([0, 0, 0, 1, 0]), schemas.recordOf)).toThrow(
    'no schema of these settings has the id 256',
  );
});

test.each([
  [
    'is incompatible',
    { status: 409, code: 409, message: 'Schema being registered is incompatible' },
    'answers 409: Schema being registered is incompatible',
  ],
  [
    'may not be written',
    { status: 403, code: 40301, message: 'Operation not permitted' },
    'answers 403: Operation not permitted',
  ],
])(
  'Schema registry: the registry refuses a schema, which %s: the error has topic and reason',
  async (_, refusal, reason) => {
    const registry = await startRegistry();
    registry.refusal = refusal;
    const { schemas } = createSchemas({ SCHEMA_REGISTRY_URL: registry.url });
    await expect(schemas.load('events')).rejects.toThrow(
      `millrace.events.v1: Schema registry ${registry.url}/subjects/millrace.events.v1-value/versions ${reason}`,
    );
  },
);

test('Schema registry: the registry is unreachable: a topic waits with a warning, and continues when the registry answers', async () => {
  const gone = await startTestRegistry();
  await gone.stop();
  const { schemas, reasons } = createSchemas({ SCHEMA_REGISTRY_URL: gone.url });
  const waiting = schemas.wait('events', new AbortController().signal);
  await until(() => reasons.length > 0, { what: 'a warning' });
  expect(reasons[0]).toContain('does not answer: connect ECONNREFUSED');
  await startRegistry({ port: Number(new URL(gone.url).port) });
  expect(await waiting).toBe(true);
  expect(schemas.headOf('event')).toEqual(Buffer.from([0, 0, 0, 0, 1]));
});

test('Schema registry: no registry is configured: records begin with the fingerprint of their schema', async () => {
  const { schemas } = createSchemas({});
  expect(await schemas.loadAll()).toEqual([]);
  expect(schemas.headOf('event')).toEqual(singleObjectHead('event'));
});
