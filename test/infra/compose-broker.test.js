import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { createHost } from '../../api/ingest/sparkplug/host.js';
import { subscribe } from '../../api/mqtt/external/subscriptions.js';
import { SETTINGS } from '../../common/settings/index.js';
import { EDGE_FILTERS } from '../../schema/sparkplug-topics.js';
import { prepareBroker } from '../support/compose-broker.js';

/** @import { IClientOptions, MqttClient } from 'mqtt' */

// The broker's configuration and start script of docker-compose.yml, on the Mosquitto of this machine.

const NOT_AUTHORIZED = 135;
const MEASUREMENTS = 'iot/v1/pump/measurements';
const STATE = { topic: 'spBv1.0/STATE/millrace-1', qos: /** @type {const} */ (1), retain: false };

/** @type {string} */
let directory;
/** @type {Awaited<ReturnType<typeof prepareBroker>>} */
let broker;
/** @type {MqttClient[]} */
const clients = [];

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

/** @param {IClientOptions} options */
async function connect(options) {
  const address = `mqtt://127.0.0.1:${broker.port}`;
  const client = await mqtt.connectAsync(
    address,
    { protocolVersion: 5, reconnectPeriod: 0, ...options },
    false,
  );
  clients.push(client);
  return client;
}

/** @param {string} name of the file */
const secret = (name) => readFileSync(join(directory, 'secrets', name), 'utf8').trim();
const asDevice = () => ({ username: 'devices', password: secret('mqtt_device_password') });
const asApi = () => ({ username: 'millrace', password: secret('mqtt_password') });

/** @param {string} topic */
async function listenTo(topic) {
  const client = await connect(asDevice());
  await client.subscribeAsync(topic, { qos: 1 });
  return client;
}

/** @param {MqttClient} client @param {string} [under] the topic's beginning @returns {Promise<string>} the next message, `topic payload` */
const nextMessage = (client, under = '') =>
  new Promise((resolve) => {
    client.on('message', function take(topic, payload) {
      if (!topic.startsWith(under)) return;
      client.off('message', take);
      resolve(`${topic} ${payload}`);
    });
  });

test('nobody gets in without a name and its password', async () => {
  await expect(connect({})).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  const other = { ...asDevice(), password: 'devices' };
  await expect(connect(other)).rejects.toMatchObject({ code: NOT_AUTHORIZED });
});

test('the health check of the container logs in', async () => {
  const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: join(directory, 'broker', 'run') };
  const check = ['-p', String(broker.port), '-t', 'iot/v1/health/status', '-E', '-W', '5'];
  await promisify(execFile)('mosquitto_sub', check, { env });
  await expect(promisify(execFile)('mosquitto_sub', check, { env: { PATH: env.PATH } })).rejects.toThrow();
});

test('what a device publishes reaches the shared subscription of the API', async () => {
  const api = await connect(asApi());
  await api.subscribeAsync('$share/ingest/iot/v1/+/measurements', { qos: 1 });
  const message = nextMessage(api);
  const device = await connect(asDevice());
  await device.publishAsync(MEASUREMENTS, '[]', { qos: 1 });
  expect(await message).toBe(`${MEASUREMENTS} []`);
});

test('a measurement sent as the README says reaches the API, and no command line has a secret', async () => {
  const page = readFileSync('docs/how-to/deploy-with-compose.md', 'utf8');
  const [, block = ''] = /```sh\n(printf .+?)```/s.exec(page) ?? [];
  const sending = block.slice(0, block.indexOf('printf', 1));
  // `printf` is the shell itself: it is no process.
  const commands = page.split('\n').filter((line) => !line.startsWith('printf '));
  expect(commands.filter((line) => line.includes('$(cat'))).toEqual([]);

  const api = await connect(asApi());
  await api.subscribeAsync(MEASUREMENTS, { qos: 1 });
  const message = nextMessage(api);
  const here = sending
    .replaceAll('infra/compose/secrets', join(directory, 'secrets'))
    .replace('mosquitto_pub -V', `mosquitto_pub -p ${broker.port} -V`);
  await promisify(execFile)('/bin/sh', ['-euc', here]);
  expect(await message).toMatch(/"sensor_id":"pressure","ts":"\d{4}-.*Z","value":4.2/);
});

test('the simulator may publish all that it has to say, and the API hears it', async () => {
  const api = await connect(asApi());
  await api.subscribeAsync(['iot/v1/+/birth', 'iot/v1/+/status', 'iot/v1/+/measurements'], { qos: 1 });
  /** @type {Set<string | undefined>} */
  const heard = new Set();
  api.on('message', (topic) => heard.add(topic.split('/')[3]));
  const { username, password } = asDevice();
  const env = {
    ...process.env,
    MQTT_URL: `mqtt://127.0.0.1:${broker.port}`,
    MQTT_USERNAME: username,
    MQTT_PASSWORD: password,
  };
  const flags = '--devices 2 --interval 100ms --batch 200ms --duration 1s --seed 1'.split(' ');
  await promisify(execFile)(process.execPath, ['simulator/index.js', ...flags], { env });
  expect([...heard].sort()).toEqual(['birth', 'measurements', 'status']);
});

test('a device may not publish for live readers', async () => {
  const device = await connect(asDevice());
  const published = device.publishAsync('iot/live/pump', '{}', { qos: 1 });
  await expect(published).rejects.toMatchObject({ code: NOT_AUTHORIZED });
});

test('an edge node may say what it has to, hears its commands and the host, and can command nobody', async () => {
  const api = await connect({ ...asApi(), will: { ...STATE, payload: Buffer.from('gone') } });
  await subscribe(api, 'ingest', createHost({ id: 'millrace-1', clock: Date.now }));
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

test('a message of MAX_MESSAGE_BYTES passes, and twice that closes the connection', async () => {
  const largest = Number(SETTINGS['MAX_MESSAGE_BYTES']?.fallback);
  const device = await connect(asDevice());
  await device.publishAsync(MEASUREMENTS, Buffer.alloc(largest), { qos: 1 });
  // With the rest of the packet unread the connection is reset; the reason that the broker gives may be lost in that.
  const closed = new Promise((resolve) => device.once('close', () => resolve(null)));
  device.on('error', () => {});
  const refused = device.publishAsync(MEASUREMENTS, Buffer.alloc(2 * largest), { qos: 1 });
  await closed;
  await Promise.all([expect(refused).rejects.toThrow(), device.endAsync(true)]);
});

test('with TLS it shows a certificate of our own authority, and asks for the same password', async () => {
  const address = `mqtts://localhost:${broker.tlsPort}`;
  const options = { protocolVersion: /** @type {const} */ (5), reconnectPeriod: 0 };
  const ca = readFileSync(join(directory, 'secrets', 'ca.pem'));
  clients.push(await mqtt.connectAsync(address, { ...options, ...asDevice(), ca }, false));
  const stranger = mqtt.connectAsync(address, { ...options, ca }, false);
  await expect(stranger).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  const untold = mqtt.connectAsync(address, { ...options, ...asDevice() }, false);
  await expect(untold).rejects.toThrow(/certificate/);
});
