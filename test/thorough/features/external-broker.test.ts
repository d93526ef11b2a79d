import { expect, test } from '@jest/globals';
import {
  publishValues,
  storedValues,
  untilUnsettled,
  useExternalBroker,
  writesSamples,
} from '../../support/mqtt/external-broker.ts';
import { until } from '../../support/until.ts';

const { broker, connectDevice, startCql, startSystem } = useExternalBroker();

test('Subscriber: a birth, a status and measurements: the API returns site, online, type and values', async () => {
  const system = await startSystem();
  const client = await connectDevice();
  const session = Date.now();
  const birth = { session, name: 'd', site: 'barn', sensors: [{ sensor_id: 's', type: 'Temperature' }] };
  await client.publishAsync('iot/v1/d/birth', JSON.stringify(birth), { qos: 1 });
  await client.publishAsync('iot/v1/d/status', JSON.stringify({ state: 'online', session }), { qos: 1 });
  await publishValues(client, 'd', [0, 1, 2]);
  await until(async () => (await storedValues(system, 'd')).length === 3);
  await until(async () => (await system.get('/devices/d')).online);
  expect(await system.get('/devices/d')).toMatchObject({
    site: 'barn',
    sensors: [expect.objectContaining({ type: 'Temperature', value: 2 })],
  });
});

test('Subscriber: the broker restarts: unacknowledged and new messages are stored', async () => {
  const cql = await startCql();
  const system = await startSystem({ CQL_CONTACT_POINTS: cql.contactPoint });
  const client = await connectDevice();
  await publishValues(client, 'd', [0]);
  await until(async () => (await storedValues(system, 'd')).length === 1);
  cql.hold(writesSamples);
  await publishValues(client, 'd', [1, 2, 3]);
  await untilUnsettled(system, 3);
  await broker().stop();
  await until(async () => (await fetch(`${system.httpUrl}/readyz`)).status === 503);
  cql.release();
  await broker().start();
  await until(async () => (await fetch(`${system.httpUrl}/readyz`)).status === 200);
  // Devices publish only now. Mosquitto 2.0.11 keeps the session and its queue, but forgets that the subscription was shared.
  await publishValues(client, 'd', [4, 5]);
  await until(async () => (await storedValues(system, 'd')).length === 6);
});
