import { afterAll, expect, test } from '@jest/globals';
import { steadyPort } from '../../../../infra/engine/ports.ts';
import { type AvroRecord, decodeAvro } from '../../../../schema/kafka/avro.ts';
import { decodeBatch, type TopicKind, topicName } from '../../../../schema/kafka/index.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { makeTopics, readTopic, startTestKafka } from '../../../support/kafka/index.ts';
import { startTestRegistry, type TestRegistry } from '../../../support/kafka/schema-registry.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { samplesOf, usePackedSystem } from '../../../support/system/packed.ts';
import { until } from '../../../support/until.ts';

const PREFIX = 'registry';
const kafka = await startTestKafka();
await makeTopics(kafka.address, PREFIX);
const port = await steadyPort();
const STREAM = {
  STREAM_KAFKA: kafka.address,
  STREAM_TOPIC_PREFIX: PREFIX,
  STREAM_FORMAT: 'avro',
  SCHEMA_REGISTRY_URL: `http://127.0.0.1:${port}`,
  LATEST_GROUPS: '2',
};
const { system, send, newHour, closeHour } = usePackedSystem({ settings: STREAM, periods: { stream: 100 } });
let registry: TestRegistry | undefined;

afterAll(async () => {
  await registry?.stop();
  await kafka.dispose();
});

const read = (kind: TopicKind) => readTopic(kafka.address, topicName(PREFIX, kind));

/** @param prefix of the topics */
function stream(prefix: string, ...args: string[]) {
  const { cql } = system().config;
  const settings = {
    ...STREAM,
    STREAM_TOPIC_PREFIX: prefix,
    CQL_CONTACT_POINTS: String(cql.contactPoints),
    CQL_KEYSPACE: cql.keyspace,
  };
  return startCommand('api/features/kafka/command.ts', settings, args).ended;
}

test('Kafka with a schema registry: registry is unreachable: measurements are acknowledged, no record is sent, and stream init fails', async () => {
  const hour = newHour();
  await send('early', samplesOf(hour, 3));
  expect(await read('batches')).toEqual([]);
  const { code, output } = await stream(PREFIX, 'init');
  expect(code).toBe(72);
  expect(output).toContain(`Schema registry ${STREAM.SCHEMA_REGISTRY_URL}/subjects/`);
  expect(output).toContain('does not answer: connect ECONNREFUSED');
});

test('Kafka with a schema registry: registry is reachable again: waiting records and watermarks are sent with its schema ids', async () => {
  registry = await startTestRegistry({ port });
  const [record] = await until(
    async () => {
      const found = await read('batches');
      return found.length > 0 ? found : null;
    },
    { what: 'a batch' },
  );
  const hour = Number(record?.headers['bucket']);
  const idOf = (kind: TopicKind) => registry?.subjects.get(`${topicName(PREFIX, kind)}-value`)?.[0]?.id;
  const value = record?.value as Buffer;
  expect([value[0], value.readUInt32BE(1)]).toEqual([0, idOf('batches')]);
  const recordOfId = (id: number) =>
    (({ [Number(idOf('batches'))]: 'batch', [Number(idOf('watermarks'))]: 'watermark' })[id] ??
      null) as AvroRecord | null;
  const [{ times, values } = { times: [], values: [] }] = decodeBatch(
    value,
    { format: 'avro', bucket: hour },
    recordOfId,
  );
  expect([[...times], [...values]]).toEqual([
    samplesOf(hour, 3).map(({ ts }) => ts),
    samplesOf(hour, 3).map((sample) => sample.value),
  ]);
  await closeHour(hour);
  const watermarks = await read('watermarks');
  expect(decodeAvro((watermarks.at(-1) as { value: Buffer }).value, recordOfId)).toMatchObject({
    record: 'watermark',
    value: { until: hour + HOUR_MS },
  });
  const { code, output } = await stream(PREFIX, 'init');
  expect(code).toBe(0);
  expect(output).toContain(`✓ is there  schema ${idOf('batches')} of ${PREFIX}.batches.v1-value`);
  // The running process may have registered some of these schemas, but none of topics with another prefix.
  const other = await stream('other', 'init');
  expect(other.code).toBe(0);
  expect(other.output).toMatch(/✓ registered {2}schema \d+ of other\.batches\.v1-value/);
});
