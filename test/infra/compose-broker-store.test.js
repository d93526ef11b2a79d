import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { prepareBroker } from '../support/compose-broker.js';
import { until } from '../support/until.js';

/** @import { IClientOptions } from 'mqtt' */

// What README.md promises of the broker of docker-compose.yml, which acknowledges to devices before anything is committed: what it
// took survives its orderly end, and a kill from the next autosave on.

const TOPIC = 'iot/v1/pump/measurements';

/** @type {string} */
let directory;
/** @type {Awaited<ReturnType<typeof prepareBroker>>} */
let broker;

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

/** @param {string} username @param {string} file of its password @returns {IClientOptions} */
const as = (username, file) => ({
  protocolVersion: 5,
  reconnectPeriod: 0,
  username,
  password: readFileSync(join(directory, 'secrets', file), 'utf8').trim(),
});
const theApi = () => ({
  ...as('millrace', 'mqtt_password'),
  clientId: 'millrace-1',
  clean: false,
  properties: { sessionExpiryInterval: 3600 },
});

/** The API subscribes and goes away, and a device publishes. @param {string} payload */
async function leaveWaiting(payload) {
  const url = `mqtt://127.0.0.1:${broker.port}`;
  const api = await mqtt.connectAsync(url, theApi(), false);
  await api.subscribeAsync('iot/v1/+/measurements', { qos: 1 });
  await api.endAsync();
  const device = await mqtt.connectAsync(url, as('devices', 'mqtt_device_password'), false);
  await device.publishAsync(TOPIC, payload, { qos: 1 });
  await device.endAsync();
}

/** The API comes back. @returns {Promise<string>} the first message that it gets */
async function firstMessage() {
  // The listener stands before the connection does: the queue is sent at once.
  const api = mqtt.connect(`mqtt://127.0.0.1:${broker.port}`, theApi());
  try {
    return await new Promise((resolve) => {
      api.once('message', (topic, payload) => resolve(`${topic} ${payload}`));
    });
  } finally {
    await api.endAsync(true);
  }
}

test('what waits for an API that is away survives a restart', async () => {
  await leaveWaiting('[1]');
  await broker.stop();
  await broker.start();
  expect(await firstMessage()).toBe(`${TOPIC} [1]`);
});

test('what was saved survives a kill, and is saved within seconds, without being asked', async () => {
  await leaveWaiting('[4711]');
  await until(async () => broker.saved().includes('[4711]'), { withinMs: 30_000 });
  await broker.kill();
  await broker.start();
  expect(await firstMessage()).toBe(`${TOPIC} [4711]`);
}, 60_000);
