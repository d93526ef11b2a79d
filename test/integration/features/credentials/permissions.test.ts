import { beforeAll, describe, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import { identifyDevice } from '../../../../schema/ids.ts';
import {
  isTaken,
  NOT_AUTHORIZED,
  trySubscribe,
  useCredentials,
  whenClosed,
} from '../../../support/features/credentials/index.ts';
import { readMetric } from '../../../support/metrics.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const INSTALLATION = { username: 'operator', password: 'the password of the operator' };

const system = useTestSystem({
  settings: {
    MQTT_AUTH: 'true',
    MQTT_USERNAME: INSTALLATION.username,
    MQTT_PASSWORD: INSTALLATION.password,
  },
  periods: { recheck: 300 },
});
const credentials = useCredentials(system);
beforeAll(() => credentials.issue('victim'));

const idOf = (device: string) => String(identifyDevice(device)?.id);
const VICTIM = idOf('victim');

let count = 0;
const sample = () => JSON.stringify({ sensor_id: 's', ts: Date.now() - ++count, value: count });
const measurements = (device: string) => `iot/v1/${device}/measurements`;

const asInstallation = () => credentials.connect(INSTALLATION.username, INSTALLATION.password);

const isKnown = async (device: string): Promise<boolean> =>
  (await system.fetch(`/devices/${encodeURIComponent(device)}`)).status === 200;

test('MQTT sign-in: wrong secrets and unknown accounts: all get CONNACK not authorized; the right secret is accepted', async () => {
  const secret = await credentials.issue('door');
  const revoked = await credentials.issue('revoked');
  await credentials.credentialService.revoke('revoked');
  await credentials.connect('door', secret);
  const wrong: [string | undefined, string | undefined][] = [
    ['door', 'wrong'],
    ['door', ''],
    ['door', undefined],
    ['nobody', secret],
    ['victim', secret],
    [idOf('door'), secret],
    ['Door', secret],
    ['revoked', revoked],
    ['operator', secret],
    ['operator', 'wrong'],
    ['x'.repeat(1000), secret],
    [undefined, undefined],
  ];
  for (const [name, password] of wrong) {
    await expect(credentials.connect(name, password)).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  }
  expect(await readMetric(system, 'iot_broker_denied_total{action="sign_in"}')).toBe(wrong.length);
});

test('MQTT sign-in: an account has four connections: a fifth closes the oldest; the installation account has no limit', async () => {
  const secret = await credentials.issue('crowd');
  const connect = () => credentials.connect('crowd', secret);
  const [oldest, ...others] = [await connect(), await connect(), await connect(), await connect()];
  const closed = whenClosed(oldest);
  const newest = await connect();
  await closed;
  for (const client of [...others, newest]) {
    expect(await isTaken(client, measurements('crowd'), sample())).toBe(true);
  }
  expect(await readMetric(system, 'iot_broker_denied_total{action="connection"}')).toBe(1);

  const installations = [];
  for (let i = 0; i < 6; i++) installations.push(await asInstallation());
  for (const client of installations) {
    expect(await isTaken(client, measurements('crowd'), sample())).toBe(true);
  }
});

test('MQTT publish: device uses its own topics by name and by id: its measurements are stored', async () => {
  const device = await credentials.connectAs('pump');
  for (const topic of [
    measurements('pump'),
    measurements(idOf('pump')),
    'iot/v1/pump/birth',
    'iot/v1/pump/status',
  ]) {
    const payload = topic.endsWith('measurements')
      ? sample()
      : JSON.stringify({ state: 'online', session: Date.now() });
    expect(await isTaken(device, topic, payload)).toBe(true);
  }
  const { items } = await system.get('/devices/pump/sensors/s/measurements');
  expect(items).toHaveLength(2);
  expect(await isKnown(idOf('pump'))).toBe(true);
});

test('MQTT publish: topic of another device: QoS 0 closes the connection, QoS 1 and 2 are acknowledged and dropped', async () => {
  const [first, second] = [
    await credentials.connectAs('publisher 0'),
    await credentials.connectAs('publisher 2'),
  ];
  const closed = whenClosed(first);
  first.publish(measurements('victim'), sample(), { qos: 0 }, () => {});
  await closed;
  const denied = await readMetric(system, 'iot_broker_denied_total{action="publish"}');
  await second.publishAsync('spBv1.0/plant/DDATA/edge/victim', sample(), { qos: 1 });
  await second.publishAsync(measurements('victim'), sample(), { qos: 2 });
  expect(await readMetric(system, 'iot_broker_denied_total{action="publish"}')).toBe(denied + 2);
  expect(second.connected).toBe(true);
  expect(await isKnown('victim')).toBe(false);
});

test('MQTT sign-in: last will on a topic of another device: refused', async () => {
  const secret = await credentials.issue('dying');
  const will = (device: string) => ({
    will: { topic: `iot/v1/${device}/status`, payload: Buffer.from('offline'), qos: 1, retain: true },
  });
  for (const other of ['victim', VICTIM, '+', '#']) {
    // @ts-expect-error the qos is a number to the compiler
    await expect(credentials.connect('dying', secret, will(other))).rejects.toMatchObject({
      code: NOT_AUTHORIZED,
    });
  }
  // @ts-expect-error the qos is a number to the compiler
  const device = await credentials.connect('dying', secret, will('dying'));
  await device.publishAsync('iot/v1/dying/status', 'online', { qos: 1 });
  device.stream.destroy();
  await until(async () => (await system.get('/devices/dying')).online === false);
  expect(await isKnown('victim')).toBe(false);
});

describe('MQTT filters', () => {
  const granted = (client: MqttClient, filters: string[]): Promise<number> =>
    new Promise((resolve) => {
      client.subscribe(filters, { qos: 0 }, (_error, _granted, packet) =>
        resolve(Number(packet?.granted.filter((code) => code !== 0x80).length)),
      );
    });
  const ownFilters = (device: string, length: number) =>
    Array.from({ length }, (_, index) => `iot/v1/${device}/${index}`);

  test('MQTT subscriptions: device holds the limit of 32 topic filters: after it unsubscribes, new filters are granted', async () => {
    const device = await credentials.connectAs('eager');
    const filters = ownFilters('eager', 4000);
    expect(await granted(device, filters)).toBe(32);
    expect(await granted(device, ['iot/v1/eager/one more'])).toBe(0);
    expect(await granted(device, ['iot/v1/eager/7'])).toBe(1);
    await device.unsubscribeAsync(filters.slice(0, 10));
    expect(await granted(device, ownFilters('eager', 20))).toBe(20);
    expect(await isTaken(device, measurements('eager'), sample())).toBe(true);
  });

  test('MQTT SUBSCRIBE: packet of more than 96 KiB: the connection is closed', async () => {
    const device = await credentials.connectAs('endless');
    const closed = whenClosed(device);
    device.subscribe(ownFilters('endless', 10_000), () => {});
    await closed;
  });
});

test('MQTT SUBSCRIBE: live topics and topics of other devices: granted to the installation account only', async () => {
  const device = await credentials.connectAs('curious');
  for (const filter of ['#', 'iot/live/#', 'iot/live/+', 'iot/v1/victim/#', 'iot/#', '+/+/+/+']) {
    expect(await trySubscribe(device, filter)).toBe(false);
  }
  const installation = await asInstallation();
  const received: string[] = [];
  installation.on('message', (topic) => received.push(topic));
  for (const filter of ['#', 'iot/live/#']) expect(await trySubscribe(installation, filter)).toBe(true);
  expect(await isTaken(installation, measurements('anybody'), sample())).toBe(true);
  await until(
    () => received.includes(`iot/live/${idOf('anybody')}`) && received.includes(measurements('anybody')),
  );
});

test('MQTT connection: another process rotates or revokes the credential of the device: the connection is closed', async () => {
  const device = await credentials.connectAs('rotated');
  const other = await credentials.connectAs('unconcerned');
  expect(await isTaken(device, measurements('rotated'), sample())).toBe(true);
  const closed = whenClosed(device);
  const { secret } = await credentials.credentialService.rotate('rotated');
  await closed;
  const again = await credentials.connect('rotated', secret);
  expect(await isTaken(again, measurements('rotated'), sample())).toBe(true);
  const revoked = whenClosed(again);
  await credentials.credentialService.revoke('rotated');
  await revoked;
  await expect(credentials.connect('rotated', secret)).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  expect(other.connected).toBe(true);
});

test('MQTT gateway connection: a device of the gateway is retired: messages of the gateway for that device are not stored', async () => {
  const secret = await credentials.issue('list owner', ['sheep 7', idOf('sheep 8'), 'sheep 9']);
  const gateway = await credentials.connect('list owner', secret);
  expect(await isTaken(gateway, measurements('sheep 7'), sample())).toBe(true);
  // The list has the name of one device and the id of the other. Neither device has a credential of its own.
  for (const device of ['sheep 7', 'sheep 8']) {
    const path = `/devices/${encodeURIComponent(device)}`;
    expect((await system.fetch(path, { method: 'DELETE' })).status).toBe(204);
    expect((await system.fetch(path, { method: 'DELETE' })).status).toBe(404);
  }
  await until(() => !gateway.connected);
  for (const device of ['sheep 7', idOf('sheep 7'), 'sheep 8', idOf('sheep 8')]) {
    const again = await credentials.connect('list owner', secret);
    expect(await isTaken(again, measurements('sheep 9'), sample())).toBe(true);
    expect(await isTaken(again, measurements(device), sample())).toBe(true);
    expect(await isKnown(device)).toBe(false);
  }
});
