import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Admin } from '@platformatic/kafka';
import mqtt from 'mqtt';
import { type TopicKind, topicName } from '../../../../schema/kafka/index.ts';
import { closingOf, HOUR_MS } from '../../../../schema/rules.ts';
import type { Json } from '../../../support/json.ts';
import { makeTopics, readTopic, startTestKafka } from '../../../support/kafka/index.ts';
import { readMetric } from '../../../support/metrics.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { samplesOf, usePackedSystem } from '../../../support/system/packed.ts';
import { until } from '../../../support/until.ts';

const PREFIX = 'missing';
const QUEUE_BYTES = 1024 * 1024;
const kafka = await startTestKafka();
const { clock, system, send, newHour, closeHour } = usePackedSystem({
  settings: {
    STREAM_KAFKA: kafka.address,
    STREAM_TOPIC_PREFIX: PREFIX,
    STREAM_QUEUE_BYTES: String(QUEUE_BYTES),
    LATEST_GROUPS: '2',
  },
  periods: { stream: 100 },
});
/** A process that commits and sends nothing to Kafka. It stands for one that is killed between the two. */
let silent: TestSystem;

beforeAll(async () => {
  await makeTopics(kafka.address, PREFIX);
  silent = await startTestSystem({
    settings: { CQL_KEYSPACE: system().config.cql.keyspace, LATEST_GROUPS: '2' },
    clock: () => clock.now,
  });
});

afterAll(async () => {
  await silent?.stop();
  await kafka.dispose();
});

async function administer(work: (admin: Admin) => Promise<unknown>) {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [kafka.address] });
  await work(admin);
  await admin.close();
}

const remove = (kind: TopicKind) =>
  administer((admin) => admin.deleteTopics({ topics: [topicName(PREFIX, kind)] }));

const make = (kind: TopicKind, settings: Record<string, string> = {}) =>
  administer((admin) =>
    admin.createTopics({
      topics: [topicName(PREFIX, kind)],
      partitions: 3,
      replicas: 1,
      configs: Object.entries(settings).map(([name, value]) => ({ name, value })),
    }),
  );

const recordsOf = async (kind: TopicKind): Promise<Json[]> =>
  (await readTopic(kafka.address, topicName(PREFIX, kind))).map(({ value, headers }) => ({
    ...JSON.parse(String(value)),
    source: headers['source'],
  }));

const untilRecords = (kind: TopicKind, device: string, count: number = 1) =>
  until(
    async () => {
      const found = (await recordsOf(kind)).filter((record) => record.device === device);
      return found.length >= count ? found : null;
    },
    { what: `${count} records of ${device} in ${kind}` },
  );

/** Waits for watermarks of both shards whose topics are at an end of an hour. @param end epoch ms */
const untilMarked = (kinds: TopicKind[], end: number) =>
  until(
    async () => {
      const newest = new Map((await recordsOf('watermarks')).map((record) => [record.shard, record]));
      const all = [...newest.values()];
      const isAt = ({ topics }: { topics: Record<string, string> }) =>
        kinds.every((kind) => Date.parse(String(topics[kind])) >= end);
      return all.length === 2 && all.every(isAt) ? all : null;
    },
    { what: `watermarks of ${kinds} at ${new Date(end).toISOString()}` },
  );

async function giveBirth(device: string) {
  const client = await mqtt.connectAsync(system().mqttUrl);
  const birth = { session: clock.now, sensors: [{ sensor_id: 's' }] };
  await client.publishAsync(`iot/v1/${device}/birth`, JSON.stringify(birth), { qos: 1 });
  await client.endAsync(true);
}

const iso = (ms: number) => new Date(ms).toISOString();

test('Kafka output: topic of events is missing: other topics and their watermarks continue, and it gets its records when created', async () => {
  await remove('events');
  await make('events', { 'max.message.bytes': '20' });
  const hour = newHour();
  await giveBirth('refused');
  await send('refused', samplesOf(hour, 3));
  await untilRecords('batches', 'refused');
  await remove('events');
  await giveBirth('unknown');
  await send('unknown', samplesOf(hour, 3));
  await untilRecords('batches', 'unknown');
  clock.now = closingOf(hour);
  const marked = await untilMarked(['batches', 'dead-letters', 'alarms'], hour + HOUR_MS);
  expect(marked.some(({ topics }) => topics.events === iso(hour))).toBe(true);
  expect(marked.every(({ until: least, topics }) => least === topics.events)).toBe(true);
  await make('events');
  await untilRecords('events', 'refused');
  await untilRecords('events', 'unknown');
  const all = await untilMarked(['events'], hour + HOUR_MS);
  expect(all.every(({ until: least }) => least === iso(hour + HOUR_MS))).toBe(true);
});

test('Kafka output: topic of batches is missing: events continue, the backlog is bounded, and the hour is completed later from the database', async () => {
  await remove('batches');
  const hour = newHour();
  const response = await silent.post(
    '/measurements?device=killed',
    samplesOf(hour, 5).map((sample) => ({ sensor_id: 's', ...sample })),
  );
  expect(response.status).toBe(200);
  const metric = (name: string) => readMetric(system(), name);
  const skipped = await metric('iot_stream_skipped_total');
  let from = 0;
  // Equal values would pack into a few bits, so the values of these samples differ.
  while ((await metric('iot_stream_skipped_total')) === skipped) {
    const samples = Array.from({ length: 500 }, (_, index) => ({
      ts: hour + from + index,
      value: Math.random(),
    }));
    await send('bounded', samples);
    from += 500;
  }
  expect(await metric('iot_stream_queue_bytes')).toBeLessThanOrEqual(QUEUE_BYTES);
  await giveBirth('meanwhile');
  await untilRecords('events', 'meanwhile');
  clock.now = closingOf(hour);
  await untilMarked(['events', 'dead-letters', 'alarms'], hour + HOUR_MS);
  await make('batches');
  await closeHour(hour);
  const killed = await untilRecords('batches', 'killed');
  expect(killed.every(({ source }) => source === 'completion')).toBe(true);
  const times = new Set(
    (await untilRecords('batches', 'bounded')).flatMap(({ sensors }) =>
      sensors.flatMap(({ samples }: { samples: [number, number][] }) => samples.map(([ts]) => ts)),
    ),
  );
  expect(times.size).toBe(from);
});
