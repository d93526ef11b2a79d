import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { steadyPort } from '../../../../infra/engine/ports.ts';
import { groupOf, type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { type TopicKind, topicName } from '../../../../schema/kafka/index.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import type { Json } from '../../../support/json.ts';
import { makeTopics, readTopic, startTestKafka } from '../../../support/kafka/index.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { usePackedSystem } from '../../../support/system/packed.ts';
import { until } from '../../../support/until.ts';

const PREFIX = 'announced';
const kafka = await startTestKafka();
const { clock, system, newHour, closeHour, store } = usePackedSystem({
  settings: { STREAM_KAFKA: kafka.address, STREAM_TOPIC_PREFIX: PREFIX, LATEST_GROUPS: '2' },
  periods: { stream: 100, alarmRules: 100 },
});
/** A process that never reaches Kafka. It stands for one that is killed between a commit and its record. */
let mute: TestSystem;

beforeAll(async () => {
  await makeTopics(kafka.address, PREFIX);
  const { CQL_KEYSPACE, LATEST_GROUPS } = {
    CQL_KEYSPACE: system().config.cql.keyspace,
    LATEST_GROUPS: '2',
  };
  mute = await startTestSystem({
    settings: { CQL_KEYSPACE, LATEST_GROUPS, STREAM_KAFKA: `127.0.0.1:${await steadyPort()}` },
    clock: () => clock.now,
    periods: { alarmRules: 100 },
  });
});

afterAll(async () => {
  await mute?.stop();
  await kafka.dispose();
});

async function recordsOf(kind: TopicKind) {
  const records = await readTopic(kafka.address, topicName(PREFIX, kind));
  return records.map(({ key, value, headers }) => ({ key, headers, ...JSON.parse(String(value)) }));
}

const untilRecords = (
  kind: TopicKind,
  isWanted: (record: Record<string, unknown>) => boolean,
  count: number,
) =>
  until(
    async () => {
      const found = (await recordsOf(kind)).filter(isWanted);
      return found.length >= count ? found : null;
    },
    { what: `${count} records of ${kind}` },
  );

/** @param messages by kind */
async function publish(to: TestSystem, device: string, messages: Record<string, object>) {
  const client = await mqtt.connectAsync(to.mqttUrl);
  for (const [kind, content] of Object.entries(messages))
    await client.publishAsync(`iot/v1/${device}/${kind}`, JSON.stringify(content), { qos: 1 });
  await client.endAsync(true);
}

const identify = (device: string) => identifyDevice(device) as Identity;
const iso = (ms: number) => new Date(ms).toISOString();

const post = (to: TestSystem, device: string, body: unknown) =>
  to.post(`/measurements?device=${device}`, body);

async function request(path: string, body: object): Promise<Json> {
  const response = await system().post(path, body);
  return response.json();
}

test('Kafka output: process is killed after a commit: another process sends its event, dead letter and alarm once', async () => {
  const hour = newHour();
  const session = clock.now;
  await publish(mute, 'gone', { birth: { session, sensors: [{ sensor_id: 's' }] } });
  await publish(mute, 'gone', { measurements: [{ sensor_id: 's', ts: clock.now, value: 'x' }] });
  await request('/alarm-rules', {
    name: 'gone',
    severity: 'info',
    scope: { device: 'gone' },
    condition: { kind: 'above', limit: 100 },
  });
  await until(async () => {
    await post(mute, 'gone', [{ sensor_id: 's', ts: clock.now, value: 150 }]);
    return (await mute.get('/alarms?state=open&device=gone')).items.length > 0;
  });
  // This outbox entry has no event, because its process was killed before the commit.
  const { id, bytes } = identify('never');
  await store().write.outbox.write(groupOf(bytes, 2), hour, { kind: 'event', id: `${id}.${session}.birth` });
  await closeHour(hour);
  for (const kind of ['events', 'dead-letters', 'alarms'] as const) {
    const found = (await recordsOf(kind)).filter(({ device }) => device === 'gone');
    expect(found.map(({ headers, key }) => [headers.source, key])).toEqual([
      ['completion', identify('gone').id],
    ]);
  }
  expect((await recordsOf('events')).filter(({ device_id }) => device_id === id)).toEqual([]);
});

test('npm run stream -- replay: events in the range: the events are sent to Kafka again', async () => {
  const hour = newHour();
  const session = clock.now;
  await publish(system(), 'again', { birth: { session, sensors: [{ sensor_id: 's' }] } });
  await untilRecords('events', ({ device }) => device === 'again', 1);
  const settings = {
    CQL_CONTACT_POINTS: String(system().config.cql.contactPoints),
    CQL_KEYSPACE: system().config.cql.keyspace,
    LATEST_GROUPS: '2',
    STREAM_KAFKA: kafka.address,
    STREAM_TOPIC_PREFIX: PREFIX,
  };
  const args = ['replay', '--from', iso(hour), '--to', iso(hour + HOUR_MS)];
  const { code, output } = await startCommand('api/features/kafka/command.ts', settings, args).ended;
  expect(code === 0 ? '' : output).toBe('');
  expect(output).toMatch(/^0 blocks sent again, and 1 events, dead letters and alarms, from /m);
  const found = await untilRecords('events', ({ device }) => device === 'again', 2);
  expect(found.map(({ headers }) => headers.source)).toEqual(['hot', 'replay']);
});
