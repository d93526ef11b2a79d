import { afterAll, expect, test } from '@jest/globals';
import { decodeAvro } from '../../../api/stream-out/avro.js';
import { decodeBatch, topicName } from '../../../api/stream-out/index.js';
import { steadyPort } from '../../../infra/engine/ports.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { makeTopics, readTopic, startTestKafka } from '../../support/kafka/index.js';
import { startTestRegistry } from '../../support/kafka/schema-registry.js';
import { startCommand } from '../../support/processes/api-process.js';
import { samplesOf, usePackedSystem } from '../../support/system/packed.js';
import { until } from '../../support/until.js';

/** @import { AvroRecord } from '../../../api/stream-out/avro.js' */
/** @import { TopicKind } from '../../../api/stream-out/index.js' */
/** @import { TestRegistry } from '../../support/kafka/schema-registry.js' */

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
/** @type {TestRegistry | undefined} */
let registry;

afterAll(async () => {
  await registry?.stop();
  await kafka.dispose();
});

/** @param {TopicKind} kind */
const read = (kind) => readTopic(kafka.address, topicName(PREFIX, kind));

/** @param {string} prefix of the topics @param {string[]} args */
function stream(prefix, ...args) {
  const { cql } = system().config;
  const settings = {
    ...STREAM,
    STREAM_TOPIC_PREFIX: prefix,
    CQL_CONTACT_POINTS: String(cql.contactPoints),
    CQL_KEYSPACE: cql.keyspace,
  };
  return startCommand('api/commands/stream.js', settings, args).ended;
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
  const idOf = (/** @type {TopicKind} */ kind) =>
    registry?.subjects.get(`${topicName(PREFIX, kind)}-value`)?.[0]?.id;
  const value = /** @type {Buffer} */ (record?.value);
  expect([value[0], value.readUInt32BE(1)]).toEqual([0, idOf('batches')]);
  const recordOfId = (/** @type {number} */ id) =>
    /** @type {AvroRecord | null} */ (
      { [Number(idOf('batches'))]: 'batch', [Number(idOf('watermarks'))]: 'watermark' }[id] ?? null
    );
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
  expect(decodeAvro(/** @type {any} */ (watermarks.at(-1)).value, recordOfId)).toMatchObject({
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
