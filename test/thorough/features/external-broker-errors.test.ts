import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../../support/dead-letters.ts';
import {
  publishValues,
  storedValues,
  useExternalBroker,
  writesSamples,
  zeroTo,
} from '../../support/mqtt/external-broker.ts';
import { until } from '../../support/until.ts';

// No message of a device may close the connection of ingest: the broker would deliver it again without end.
const { connectDevice, startCql, startSystem, startMqttProxy } = useExternalBroker();

test('Subscriber: messages on unknown topics: not delivered; a message without a device id becomes a dead letter', async () => {
  const mqttProxy = await startMqttProxy();
  const system = await startSystem({ MQTT_URL: mqttProxy.url });
  const client = await connectDevice();
  for (const topic of [
    'a',
    '/',
    'iot/v1/d',
    'iot/v1/d/b/measurements',
    'iot/v2/d/measurements',
    'iot/live/x',
  ]) {
    await client.publishAsync(topic, '{"sensor_id":"s","value":1}', { qos: 1 });
  }
  await client.publishAsync('iot/v1//measurements', '{"sensor_id":"s","value":1}', { qos: 1 });
  await publishValues(client, 'd', [1]);
  await until(() => mqttProxy.last().acknowledged.length === 2);
  expect(mqttProxy.last().delivered).toHaveLength(2);
  expect((await readDeadLetters(system)).map(({ device, codes }) => [device, codes])).toEqual([
    ['', { bad_id: 1 }],
  ]);
  expect(mqttProxy.connections).toHaveLength(1);
});

test('Subscriber: retained measurements: stored when they are published, and not again after a reconnect', async () => {
  const mqttProxy = await startMqttProxy();
  const client = await connectDevice();
  const payload = (value: number) => JSON.stringify({ sensor_id: 's', ts: Date.now(), value });
  // Nobody has subscribed yet: shared subscriptions get no retained messages (MQTT 5, section 4.8.2).
  await client.publishAsync('iot/v1/d/measurements', payload(1), { qos: 1, retain: true });
  const system = await startSystem({ MQTT_URL: mqttProxy.url });
  await client.publishAsync('iot/v1/d/measurements', payload(2), { qos: 1, retain: true });
  await until(() => mqttProxy.last().acknowledged.length === 1);
  expect(await storedValues(system, 'd')).toEqual([2]);

  mqttProxy.cut();
  await until(() => mqttProxy.connections.length === 2);
  await client.publishAsync('iot/v1/d/measurements', payload(3), { qos: 1 });
  await until(() => mqttProxy.last().acknowledged.length === 1);
  expect(mqttProxy.last().delivered).toHaveLength(1);
  expect(await storedValues(system, 'd')).toEqual([2, 3]);
  expect(mqttProxy.connections).toHaveLength(2);
});

test('Readiness: messages wait too long for their commit: /readyz answers 503, although the database answers', async () => {
  const cql = await startCql();
  const system = await startSystem({ CQL_CONTACT_POINTS: cql.contactPoint }, { unsettled: 300 });
  const client = await connectDevice();
  await publishValues(client, 'd', [0]);
  const ready = async () => {
    const response = await fetch(`${system.httpUrl}/readyz`);
    return { status: response.status, ...(await response.json()) };
  };
  await until(async () => (await storedValues(system, 'd')).length === 1 && (await ready()).ready);
  cql.hold(writesSamples);
  await publishValues(client, 'd', zeroTo(3));
  const stuck = await until(async () => {
    const state = await ready();
    return state.ready ? null : state;
  });
  expect(stuck).toMatchObject({
    status: 503,
    checks: {
      acknowledgements: { ok: false, message: expect.stringMatching(/^3 wait, the oldest for \d+ ms$/) },
      broker: { ok: true },
      database: { ok: true },
    },
  });
  cql.release();
  await until(async () => (await ready()).ready);
});
