import { beforeAll, expect, test } from '@jest/globals';
import type { IClientPublishOptions, MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { useTestSystem } from '../support/system/use.ts';

const INSTALLATION = { username: 'operator', password: 'the password of the operator' };

const system = useTestSystem({
  settings: {
    MQTT_AUTH: 'true',
    MQTT_USERNAME: INSTALLATION.username,
    MQTT_PASSWORD: INSTALLATION.password,
    AUTO_REGISTER_MAX: '2',
  },
});
let device: MqttClient;
beforeAll(async () => {
  device = await connect('desk', await issue('desk'));
  system.beforeStop(() => device.endAsync(true));
});

async function issue(account: string): Promise<string> {
  const answer = await system.post('/credentials', { account });
  return (await answer.json()).secret;
}

const connect = (username: string, password: string) =>
  mqtt.connectAsync(system.mqttUrl, { protocolVersion: 5, reconnectPeriod: 0, username, password });

/** Publishes with QoS 1. @returns of the PUBACK */
const publish = (
  topic: string,
  payload: string,
  options?: IClientPublishOptions,
): Promise<[code: number, reason: string | undefined]> =>
  new Promise((resolve) => {
    device.on('packetreceive', function onPacket(packet) {
      if (packet.cmd !== 'puback') return;
      device.off('packetreceive', onPacket);
      resolve([packet.reasonCode ?? 0, packet.properties?.reasonString]);
    });
    device.publish(topic, payload, { qos: 1, ...options }, () => {});
  });

async function latest(name: string): Promise<Record<string, number>> {
  const { items } = await system.get(`/latest?device=${name}`);
  return Object.fromEntries(items.map((item: Record<string, unknown>) => [item.name, item.value]));
}

test('MQTT 5 message: content type: it selects the decoder; an unknown one is refused with 0x99', async () => {
  const topic = 'iot/v1/desk/measurements';
  const senml = '[{"n": "h", "v": 40}]';
  const as = (contentType: string) => ({ properties: { contentType } });
  expect(await publish(topic, senml, as('application/senml+json'))).toEqual([0, undefined]);
  expect(await latest('desk')).toMatchObject({ h: 40 });
  const [code, reason] = await publish(topic, senml, as('application/x-nothing'));
  expect([code, reason?.split(':')[0]]).toEqual([0x99, 'unknown_format']);
  const [deadLetter] = (await system.get('/dead-letters')).items;
  expect(deadLetter).toMatchObject({ topic, codes: { unknown_format: 1 } });
});

test('MQTT 5 client: publishes with QoS 1 on a topic of another device: PUBACK 0x87, and the connection stays open', async () => {
  expect(await publish('iot/v1/bench/measurements', '{"sensor_id": "t", "value": 666}')).toEqual([
    0x87,
    'forbidden: the account may not publish on this topic',
  ]);
  expect((await system.fetch('/devices/bench')).status).toBe(404);
  expect(device.connected).toBe(true);
});

test('MQTT 5 client: connects with a wrong password: CONNACK 0x87', async () => {
  await expect(connect('desk', 'wrong')).rejects.toMatchObject({ code: 0x87 });
});

test('MQTT 5 client: its credential is revoked: DISCONNECT 0x87', async () => {
  const lamp = await connect('bulb', await issue('bulb'));
  const code: Promise<number | undefined> = new Promise((resolve) =>
    lamp.on('disconnect', ({ reasonCode }) => resolve(reasonCode)),
  );
  await system.fetch('/credentials/bulb', { method: 'DELETE' });
  expect(await code).toBe(0x87);
  await lamp.endAsync(true);
});
