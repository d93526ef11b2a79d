import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import mqttPacket from 'mqtt-packet';
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

/** Connects with the installation account from another address of this machine. @returns the code of CONNACK */
async function answerTo(password: string): Promise<number | undefined> {
  const { hostname: host, port } = new URL(system.mqttUrl);
  const socket = connectTcp({ host, port: Number(port), localAddress: '127.0.0.2' });
  const { username } = INSTALLATION;
  const client = { clientId: 'elsewhere', clean: true, keepalive: 0 };
  socket.write(
    mqttPacket.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      ...client,
      username,
      password: Buffer.from(password),
    }),
  );
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return answer[3];
}

/** @returns the device is registered */
const isKnown = async (device: string): Promise<boolean> =>
  (await system.fetch(`/devices/${encodeURIComponent(device)}`)).status === 200;

describe('MQTT sign-in', () => {
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

  test('MQTT sign-in: ten wrong passwords for the installation account in a minute: the address is refused, even with the right password', async () => {
    const { password } = INSTALLATION;
    expect(await answerTo(password)).toBe(0);
    for (let i = 0; i < 10; i++) expect(await answerTo(`wrong ${i}`)).toBe(NOT_AUTHORIZED);
    expect(await answerTo(password)).toBe(NOT_AUTHORIZED);
    await asInstallation();
  });

  test('MQTT sign-in: client id of another device: accepted, and the connection of the other device stays open', async () => {
    const first = await credentials.connectAs('first', { options: { clientId: 'same' } });
    await credentials.connectAs('second', { options: { clientId: 'same' } });
    expect(await isTaken(first, measurements('first'), sample())).toBe(true);
    expect(first.connected).toBe(true);
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

  test('MQTT sign-in: connections that closed or were taken over: not counted toward the limit of four connections per account', async () => {
    const secret = await credentials.issue('reconnecting');
    const connect = (clientId = '') =>
      credentials.connect('reconnecting', secret, clientId ? { clientId } : undefined);
    const steady = await connect();
    for (let i = 0; i < 6; i++) await (await connect()).endAsync(true);
    let same = await connect('same');
    for (let i = 0; i < 6; i++) {
      const closed = whenClosed(same);
      same = await connect('same');
      await closed;
    }
    expect(steady.connected).toBe(true);
    expect(await isTaken(steady, measurements('reconnecting'), sample())).toBe(true);
  });

  test('MQTT sign-in: 500 wrong sign-ins at once: a connected device still publishes', async () => {
    const device = await credentials.connectAs('steady');
    const attempts = Array.from({ length: 500 }, (_, i) =>
      credentials.connect(i % 2 ? 'steady' : `unknown-${i}`, 'wrong').then(
        () => 0,
        ({ code }) => code,
      ),
    );
    for (let sent = 0; sent < 20; sent++) {
      expect(await isTaken(device, measurements('steady'), sample())).toBe(true);
    }
    expect(new Set(await Promise.all(attempts))).toEqual(new Set([NOT_AUTHORIZED]));
    expect(await isTaken(device, measurements('steady'), sample())).toBe(true);
  });
});

describe('MQTT publish, device', () => {
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

  test.each([
    ['another device by name', measurements('victim')],
    ['another device by id', measurements(VICTIM)],
    ['the status of another device', 'iot/v1/victim/status'],
    ['the birth of another device', `iot/v1/${VICTIM}/birth`],
    ['a Sparkplug edge node', 'spBv1.0/plant/NDATA/edge'],
    ['a device of a Sparkplug edge node', 'spBv1.0/plant/DDATA/edge/victim'],
  ])(
    'MQTT publish: device publishes on the topic of %s: acknowledged and dropped, and the next message is stored',
    async (what, topic) => {
      const device = await credentials.connectAs(`publisher by ${what}`);
      const denied = await readMetric(system, 'iot_broker_denied_total{action="publish"}');
      expect(await isTaken(device, topic, sample())).toBe(true);
      expect(await readMetric(system, 'iot_broker_denied_total{action="publish"}')).toBe(denied + 1);
      expect(await isKnown('victim')).toBe(false);
      expect(await isTaken(device, measurements(`publisher by ${what}`), sample())).toBe(true);
      expect(await isKnown(idOf(`publisher by ${what}`))).toBe(true);
    },
  );

  test('MQTT publish: topic of another device: QoS 0 closes the connection, QoS 2 is acknowledged and dropped', async () => {
    const [first, second] = [
      await credentials.connectAs('publisher 0'),
      await credentials.connectAs('publisher 2'),
    ];
    const closed = whenClosed(first);
    first.publish(measurements('victim'), sample(), { qos: 0 }, () => {});
    await closed;
    await second.publishAsync(measurements('victim'), sample(), { qos: 2 });
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

  test('MQTT publish: topics that the broker does not serve: acknowledged and dropped, and the connection stays open', async () => {
    const device = await credentials.connectAs('chatty');
    for (const topic of ['elsewhere', 'iot/live/x', `iot/live/${VICTIM}`, 'spBv1.0/STATE/x']) {
      expect(await isTaken(device, topic, sample())).toBe(true);
    }
  });
});

test('MQTT gateway: topics of the gateway and of its listed devices: publish and subscribe are allowed; topics of other devices are refused', async () => {
  const gateway = await credentials.connectAs('gateway', { devices: ['sheep 1', idOf('sheep 2'), '+'] });
  for (const own of ['gateway', 'sheep 1', idOf('sheep 1'), 'sheep 2', idOf('sheep 2'), idOf('+')]) {
    expect(await isTaken(gateway, measurements(own), sample())).toBe(true);
    expect(await trySubscribe(gateway, `iot/v1/${own}/#`)).toBe(true);
  }
  for (const filter of ['iot/v1/+/#', 'iot/v1/victim/#', 'iot/v1/sheep 3/#']) {
    expect(await trySubscribe(gateway, filter)).toBe(false);
  }
  expect(await isTaken(gateway, measurements('sheep 3'), sample())).toBe(true);
  expect(await isKnown(idOf('sheep 3'))).toBe(false);
});

describe('MQTT filters', () => {
  /** @returns the number of granted filters */
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

  test('MQTT subscriptions: 4,000 refused topic filters: count toward the limit of the client, so that its own topic is refused as well', async () => {
    const device = await credentials.connectAs('greedy');
    expect(await granted(device, ownFilters('victim', 4000))).toBe(0);
    expect(await granted(device, ['iot/v1/greedy/#'])).toBe(0);
  });

  test('MQTT subscriptions: limit of topic filters: 32 plus two for each device of a gateway, and 1,024 for the installation account', async () => {
    const devices = Array.from({ length: 40 }, (_, index) => `flock ${index}`);
    const gateway = await credentials.connectAs('shepherd', { devices });
    expect(await granted(gateway, ownFilters('flock 7', 200))).toBe(32 + 2 * 40);
    expect(await granted(await asInstallation(), ownFilters('anybody', 2000))).toBe(1024);
  });

  test('MQTT subscriptions: topic filter with too many levels or characters: refused', async () => {
    const device = await credentials.connectAs('deep');
    expect(await granted(device, [`iot/v1/deep/${'x/'.repeat(90)}#`, `iot/v1/deep/${'x'.repeat(600)}`])).toBe(
      0,
    );
    expect(await granted(device, ['iot/v1/deep/#'])).toBe(1);
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

describe('MQTT connection ends', () => {
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

  test('MQTT connection: the device is retired: its connection is closed, and its credential is deleted', async () => {
    const device = await credentials.connectAs('old');
    expect(await isTaken(device, measurements('old'), sample())).toBe(true);
    const closed = whenClosed(device);
    expect((await system.fetch(`/devices/${idOf('old')}`, { method: 'DELETE' })).status).toBe(204);
    await closed;
    const row = await credentials.store.find(identifyDevice('old')?.bytes as Buffer);
    expect(row?.hash).toBe('');
    expect(await isKnown('old')).toBe(false);
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

  test('Device retirement: device has a credential but never connected: DELETE answers 204, then 404', async () => {
    await credentials.issue('never came');
    const path = `/devices/${encodeURIComponent('never came')}`;
    expect((await system.fetch(path, { method: 'DELETE' })).status).toBe(204);
    expect((await system.fetch(path, { method: 'DELETE' })).status).toBe(404);
  });
});
