import { expect, test } from '@jest/globals';
import type { OtherPeriods } from '../../../../common/periods.ts';
import {
  publishValues,
  storedValues,
  untilUnsettled,
  useExternalBroker,
  writesSamples,
  zeroTo,
} from '../../../support/mqtt/external-broker.ts';
import { until } from '../../../support/until.ts';

// The tests read acknowledgements at the proxy.
const { connectDevice, startCql, startSystem, startMqttProxy } = useExternalBroker();

/**
 * Starts a system between two proxies, one to the broker and one to the database. It settles when the first message
 * is acknowledged.
 * @param periods ms
 */
async function startBetweenProxies(settings?: Record<string, string>, periods?: OtherPeriods) {
  const cql = await startCql();
  const mqttProxy = await startMqttProxy();
  const system = await startSystem(
    { MQTT_URL: mqttProxy.url, CQL_CONTACT_POINTS: cql.contactPoint, ...settings },
    periods,
  );
  const client = await connectDevice();
  await publishValues(client, 'd', [0]);
  await until(() => mqttProxy.last().acknowledged.length === 1);
  return { cql, mqttProxy, system, client };
}

test('Subscriber: connection breaks before the commit: the broker sends the messages again, and each is acknowledged', async () => {
  const { cql, mqttProxy, system, client } = await startBetweenProxies();
  cql.hold(writesSamples);
  await publishValues(client, 'd', [1, 2, 3]);
  await untilUnsettled(system, 3);
  const before = mqttProxy.last();
  mqttProxy.cut();
  await until(() => mqttProxy.connections.length === 2 && mqttProxy.last().delivered.length === 3);
  expect(before.acknowledged).toHaveLength(1);
  expect(mqttProxy.last().acknowledged).toEqual([]);
  cql.release();
  await until(() => mqttProxy.last().acknowledged.length === 3);
  expect(mqttProxy.last().acknowledged).toEqual(mqttProxy.last().delivered);
  expect(await storedValues(system, 'd')).toEqual([0, 1, 2, 3]);
});

test('Subscriber: database hangs, and unacknowledged bytes reach their limit: ingest stops reading, and later stores every sample', async () => {
  const { cql, mqttProxy, system, client } = await startBetweenProxies();
  cql.hold(writesSamples);
  // 40 MB; 16 MB may be unsettled.
  const values = zeroTo(100).map((i) => i + 1);
  await publishValues(client, 'd', values, ' '.repeat(400_000));
  const unsettled = async () => {
    const text = await (await fetch(`${system.httpUrl}/metrics`)).text();
    return Number(/^iot_ingest_unsettled_bytes (\S+)$/m.exec(text)?.[1]);
  };
  // Mosquitto has at most 20 messages in flight, or the receive maximum of ingest.
  await until(async () => (await unsettled()) > 4_000_000 || mqttProxy.last().delivered.length >= 41);
  expect(await unsettled()).toBeLessThan(18_000_000);
  expect(mqttProxy.last().acknowledged).toHaveLength(1);
  cql.release();
  await until(async () => (await storedValues(system, 'd')).length === 101);
  await until(() => mqttProxy.last().acknowledged.length === 101);
  expect(mqttProxy.last().acknowledged).toEqual(mqttProxy.last().delivered);
});

test.each([
  ['600 small messages', 600, 0],
  ['30 large messages', 30, 1_000_000],
])('Subscriber: database hangs for four keepalives, %s: MQTT connection stays', async (_, count, bytes) => {
  // Few requests run at a time. If dozens time out, the driver marks the database as down.
  const { cql, mqttProxy, system, client } = await startBetweenProxies(
    { INGEST_MAX_IN_FLIGHT: '8' },
    { keepAlive: 4000 },
  );
  cql.hold(writesSamples);
  const values = zeroTo(count).map((i) => i + 1);
  await publishValues(client, 'd', values, ' '.repeat(bytes));
  await until(() => cql.held() > 0);
  // At least one ping leaves in each keepalive.
  const before = mqttProxy.last().pings;
  await until(() => mqttProxy.last().pings >= before + 4);
  expect(mqttProxy.last().acknowledged).toHaveLength(1);

  cql.release();
  await until(() => mqttProxy.last().acknowledged.length === count + 1);
  expect(mqttProxy.connections).toHaveLength(1);
  expect(mqttProxy.last().delivered).toHaveLength(count + 1);
  expect(mqttProxy.last().acknowledged).toEqual(mqttProxy.last().delivered);
  await until(async () => (await storedValues(system, 'd')).length === count + 1);
});

test('Subscriber: process stops during commits: accepted messages are acknowledged, and later messages stay in the MQTT session', async () => {
  const cql = await startCql();
  const mqttProxy = await startMqttProxy();
  const settings = { MQTT_URL: mqttProxy.url, CQL_CONTACT_POINTS: cql.contactPoint };
  const system = await startSystem(settings);
  const client = await connectDevice();
  await publishValues(client, 'd', [0]);
  await until(() => mqttProxy.last().acknowledged.length === 1);
  cql.hold(writesSamples);
  await publishValues(client, 'd', [1, 2]);
  await untilUnsettled(system, 2);
  const before = mqttProxy.last();
  const halted = system.halt();
  await publishValues(client, 'd', [3, 4]);
  await until(() => before.delivered.length === 5);
  cql.release();
  await halted;
  expect(before.acknowledged).toEqual(before.delivered.slice(0, 3));

  const { config } = system;
  const again = await startSystem({ ...settings, CQL_KEYSPACE: config.cql.keyspace });
  await until(() => mqttProxy.last().acknowledged.length === 2);
  expect(await storedValues(again, 'd')).toEqual([0, 1, 2, 3, 4]);
});
