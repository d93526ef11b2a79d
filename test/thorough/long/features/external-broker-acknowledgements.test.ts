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

// The tests read acknowledgements on the wire.
const { connectDevice, startCql, startSystem, startWire } = useExternalBroker();

/**
 * Starts a system between two observed wires, one to the broker and one to the database. It settles when the first message
 * is acknowledged.
 * @param periods ms
 */
async function startBetweenWires(settings?: Record<string, string>, periods?: OtherPeriods) {
  const cql = await startCql();
  const wire = await startWire();
  const system = await startSystem(
    { MQTT_URL: wire.url, CQL_CONTACT_POINTS: cql.contactPoint, ...settings },
    periods,
  );
  const client = await connectDevice();
  await publishValues(client, 'd', [0]);
  await until(() => wire.last().acknowledged.length === 1);
  return { cql, wire, system, client };
}

test('Subscriber: connection breaks before the commit: the broker sends the messages again, and each is acknowledged', async () => {
  const { cql, wire, system, client } = await startBetweenWires();
  cql.hold(writesSamples);
  await publishValues(client, 'd', [1, 2, 3]);
  await untilUnsettled(system, 3);
  const before = wire.last();
  wire.cut();
  await until(() => wire.connections.length === 2 && wire.last().delivered.length === 3);
  expect(before.acknowledged).toHaveLength(1);
  expect(wire.last().acknowledged).toEqual([]);
  cql.release();
  await until(() => wire.last().acknowledged.length === 3);
  expect(wire.last().acknowledged).toEqual(wire.last().delivered);
  expect(await storedValues(system, 'd')).toEqual([0, 1, 2, 3]);
});

test('Subscriber: database hangs, and unacknowledged bytes reach their limit: ingest stops reading, and later stores every sample', async () => {
  const { cql, wire, system, client } = await startBetweenWires();
  cql.hold(writesSamples);
  // 40 MB; 16 MB may be unsettled.
  const values = zeroTo(100).map((i) => i + 1);
  await publishValues(client, 'd', values, ' '.repeat(400_000));
  const unsettled = async () => {
    const text = await (await fetch(`${system.httpUrl}/metrics`)).text();
    return Number(/^iot_ingest_unsettled_bytes (\S+)$/m.exec(text)?.[1]);
  };
  // Mosquitto has at most 20 messages in flight, or the receive maximum of ingest.
  await until(async () => (await unsettled()) > 4_000_000 || wire.last().delivered.length >= 41);
  expect(await unsettled()).toBeLessThan(18_000_000);
  expect(wire.last().acknowledged).toHaveLength(1);
  cql.release();
  await until(async () => (await storedValues(system, 'd')).length === 101);
  await until(() => wire.last().acknowledged.length === 101);
  expect(wire.last().acknowledged).toEqual(wire.last().delivered);
});

test.each([
  ['600 small messages', 600, 0],
  ['30 large messages', 30, 1_000_000],
])('Subscriber: database hangs for four keepalives, %s: MQTT connection stays', async (_, count, bytes) => {
  // Few requests run at a time. If dozens time out, the driver marks the database as down.
  const { cql, wire, system, client } = await startBetweenWires(
    { INGEST_MAX_IN_FLIGHT: '8' },
    { keepAlive: 4000 },
  );
  cql.hold(writesSamples);
  const values = zeroTo(count).map((i) => i + 1);
  await publishValues(client, 'd', values, ' '.repeat(bytes));
  await until(() => cql.held() > 0);
  // At least one ping leaves in each keepalive.
  const before = wire.last().pings;
  await until(() => wire.last().pings >= before + 4);
  expect(wire.last().acknowledged).toHaveLength(1);

  cql.release();
  await until(() => wire.last().acknowledged.length === count + 1);
  expect(wire.connections).toHaveLength(1);
  expect(wire.last().delivered).toHaveLength(count + 1);
  expect(wire.last().acknowledged).toEqual(wire.last().delivered);
  await until(async () => (await storedValues(system, 'd')).length === count + 1);
});

test('Subscriber: process stops during commits: accepted messages are acknowledged, and later messages stay in the MQTT session', async () => {
  const cql = await startCql();
  const wire = await startWire();
  const settings = { MQTT_URL: wire.url, CQL_CONTACT_POINTS: cql.contactPoint };
  const system = await startSystem(settings);
  const client = await connectDevice();
  await publishValues(client, 'd', [0]);
  await until(() => wire.last().acknowledged.length === 1);
  cql.hold(writesSamples);
  await publishValues(client, 'd', [1, 2]);
  await untilUnsettled(system, 2);
  const before = wire.last();
  const halted = system.halt();
  await publishValues(client, 'd', [3, 4]);
  await until(() => before.delivered.length === 5);
  cql.release();
  await halted;
  expect(before.acknowledged).toEqual(before.delivered.slice(0, 3));

  const { config } = system;
  const again = await startSystem({ ...settings, CQL_KEYSPACE: config.cql.keyspace });
  await until(() => wire.last().acknowledged.length === 2);
  expect(await storedValues(again, 'd')).toEqual([0, 1, 2, 3, 4]);
});
