import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { IClientOptions } from 'mqtt';
import mqtt from 'mqtt';
import { prepareBroker } from '../../support/compose/broker.ts';
import { until } from '../../support/until.ts';

// The broker of docker-compose.yml acknowledges to devices before anything is committed. README.md promises that its messages survive
// an orderly stop, and a kill after the next autosave.

const TOPIC = 'iot/v1/pump/measurements';

let directory: string;
let broker: Awaited<ReturnType<typeof prepareBroker>>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-broker-'));
  mkdirSync(join(directory, 'broker'));
  const secrets = join(directory, 'secrets');
  await promisify(execFile)('/bin/sh', ['infra/compose/init.sh', secrets]);
  broker = await prepareBroker({ directory: join(directory, 'broker'), secrets });
  await broker.start();
});

afterEach(async () => {
  await broker.stop();
  rmSync(directory, { recursive: true, force: true });
});

const as = (username: string, file: string): IClientOptions => ({
  protocolVersion: 5,
  reconnectPeriod: 0,
  username,
  password: readFileSync(join(directory, 'secrets', file), 'utf8').trim(),
});
const apiOptions = () => ({
  ...as('millrace', 'mqtt_password'),
  clientId: 'millrace-1',
  clean: false,
  properties: { sessionExpiryInterval: 3600 },
});

/** The API subscribes and disconnects. Then a device publishes. */
async function leaveWaiting(payload: string) {
  const url = `mqtt://127.0.0.1:${broker.port}`;
  const api = await mqtt.connectAsync(url, apiOptions(), false);
  await api.subscribeAsync('iot/v1/+/measurements', { qos: 1 });
  await api.endAsync();
  const device = await mqtt.connectAsync(url, as('devices', 'mqtt_device_password'), false);
  await device.publishAsync(TOPIC, payload, { qos: 1 });
  await device.endAsync();
}

async function firstMessage(): Promise<string> {
  // The broker sends the queue at once, so the listener must be there before the connection.
  const api = mqtt.connect(`mqtt://127.0.0.1:${broker.port}`, apiOptions());
  try {
    return await new Promise((resolve) => {
      api.once('message', (topic, payload) => resolve(`${topic} ${payload}`));
    });
  } finally {
    await api.endAsync(true);
  }
}

test('Mosquitto of Compose: restarts while the API is disconnected: the queued message is delivered afterwards', async () => {
  await leaveWaiting('[1]');
  await broker.stop();
  await broker.start();
  expect(await firstMessage()).toBe(`${TOPIC} [1]`);
});

test('Mosquitto of Compose: killed after it has saved its queue by itself: the queued message is delivered afterwards', async () => {
  await leaveWaiting('[4711]');
  await until(async () => broker.saved().includes('[4711]'));
  await broker.kill();
  await broker.start();
  expect(await firstMessage()).toBe(`${TOPIC} [4711]`);
});
