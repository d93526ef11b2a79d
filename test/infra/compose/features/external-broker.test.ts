import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IClientOptions, MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { subscribe } from '../../../../api/features/external-broker/source/subscriptions.ts';
import { SETTINGS } from '../../../../common/settings/index.ts';
import { EDGE_FILTERS } from '../../../../schema/sparkplug-topics.ts';
import { prepareBroker } from '../../../support/compose/broker.ts';

// Runs the broker's configuration and start script of docker-compose.yml with the installed Mosquitto.

const NOT_AUTHORIZED = 135;
const MEASUREMENTS = 'iot/v1/pump/measurements';
const STATE = { topic: 'spBv1.0/STATE/millrace-1', qos: 1 as const, retain: false };

let directory: string;
let broker: Awaited<ReturnType<typeof prepareBroker>>;
const clients: MqttClient[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-broker-'));
  mkdirSync(join(directory, 'broker'));
  const secrets = join(directory, 'secrets');
  await promisify(execFile)('/bin/sh', ['infra/compose/init.sh', secrets]);
  broker = await prepareBroker({ directory: join(directory, 'broker'), secrets });
  await broker.start();
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.endAsync(true)));
  await broker.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function connect(options: IClientOptions) {
  const address = `mqtt://127.0.0.1:${broker.port}`;
  const client = await mqtt.connectAsync(
    address,
    { protocolVersion: 5, reconnectPeriod: 0, ...options },
    false,
  );
  clients.push(client);
  return client;
}

const secret = (name: string) => readFileSync(join(directory, 'secrets', name), 'utf8').trim();
const asDevice = () => ({ username: 'devices', password: secret('mqtt_device_password') });
const asApi = () => ({ username: 'millrace', password: secret('mqtt_password') });

async function listenTo(topic: string) {
  const client = await connect(asDevice());
  await client.subscribeAsync(topic, { qos: 1 });
  return client;
}

const nextMessage = (client: MqttClient, prefix: string = ''): Promise<string> =>
  new Promise((resolve) => {
    client.on('message', function onMessage(topic, payload) {
      if (!topic.startsWith(prefix)) return;
      client.off('message', onMessage);
      resolve(`${topic} ${payload}`);
    });
  });

test('Mosquitto of Compose: health check of the container: succeeds with the account file, and fails without that file', async () => {
  const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: join(directory, 'broker', 'run') };
  const check = ['-p', String(broker.port), '-t', 'iot/v1/health/status', '-E', '-W', '5'];
  await promisify(execFile)('mosquitto_sub', check, { env });
  await expect(promisify(execFile)('mosquitto_sub', check, { env: { PATH: env.PATH } })).rejects.toThrow();
});

test('Mosquitto of Compose: a device publishes to iot/live: the broker refuses the message', async () => {
  const device = await connect(asDevice());
  const published = device.publishAsync('iot/live/pump', '{}', { qos: 1 });
  await expect(published).rejects.toMatchObject({ code: NOT_AUTHORIZED });
});

test('Mosquitto of Compose: Sparkplug edge node: may publish data and receive commands; its own commands and STATE are refused', async () => {
  const api = await connect({ ...asApi(), will: { ...STATE, payload: Buffer.from('gone') } });
  await subscribe(api, {
    group: 'ingest',
    subscriptions: [{ sole: EDGE_FILTERS, states: [STATE.topic], hint: '' }],
  });
  const edge = await connect({
    ...asDevice(),
    will: { topic: 'spBv1.0/plant/NDEATH/edge-1', payload: Buffer.from('dead'), qos: 1, retain: false },
  });
  await edge.subscribeAsync(['spBv1.0/plant/NCMD/edge-1', 'spBv1.0/STATE/+'], { qos: 1 });
  for (const topic of EDGE_FILTERS.map((filter) => filter.replaceAll('+', 'x'))) {
    const message = nextMessage(api, 'spBv1.0/');
    await edge.publishAsync(topic, 'x', { qos: 1 });
    expect(await message).toBe(`${topic} x`);
  }
  for (const topic of [STATE.topic, 'spBv1.0/plant/NCMD/edge-1']) {
    const message = nextMessage(edge);
    await api.publishAsync(topic, 'x', { qos: 1 });
    expect(await message).toBe(`${topic} x`);
  }
  for (const topic of [STATE.topic, 'spBv1.0/plant/NCMD/edge-2', 'spBv1.0/plant/DCMD/edge-2/press']) {
    const published = edge.publishAsync(topic, 'x', { qos: 1 });
    await expect(published).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  }
  const death = nextMessage(api, 'spBv1.0/');
  edge.stream.destroy();
  expect(await death).toBe('spBv1.0/plant/NDEATH/edge-1 dead');
  const absence = nextMessage(await listenTo(STATE.topic));
  api.stream.destroy();
  expect(await absence).toBe(`${STATE.topic} gone`);
});

test('Mosquitto of Compose: message of MAX_MESSAGE_BYTES: accepted; a message of twice MAX_MESSAGE_BYTES closes the connection', async () => {
  const largest = Number(SETTINGS['MAX_MESSAGE_BYTES']?.fallback);
  const device = await connect(asDevice());
  await device.publishAsync(MEASUREMENTS, Buffer.alloc(largest), { qos: 1 });
  // The broker does not read the rest of the packet, so the connection is reset, and its reason code may be lost.
  const closed = new Promise((resolve) => device.once('close', () => resolve(null)));
  device.on('error', () => {});
  const refused = device.publishAsync(MEASUREMENTS, Buffer.alloc(2 * largest), { qos: 1 });
  await closed;
  await Promise.all([expect(refused).rejects.toThrow(), device.endAsync(true)]);
});

test('Mosquitto of Compose: TLS port: presents a certificate of the generated authority, and requires the password of the account', async () => {
  const address = `mqtts://localhost:${broker.tlsPort}`;
  const options = { protocolVersion: 5 as const, reconnectPeriod: 0 };
  const ca = readFileSync(join(directory, 'secrets', 'ca.pem'));
  clients.push(await mqtt.connectAsync(address, { ...options, ...asDevice(), ca }, false));
  const anonymous = mqtt.connectAsync(address, { ...options, ca }, false);
  await expect(anonymous).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  const withoutAuthority = mqtt.connectAsync(address, { ...options, ...asDevice() }, false);
  await expect(withoutAuthority).rejects.toThrow(/certificate/);
});
