import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { freePort } from '../../infra/engine/ports.js';
import { startCommand } from '../support/api-process.js';
import { send } from '../support/http.js';
import { useInstallation } from '../support/installation.js';
import { until } from '../support/until.js';

/** @import { ApiProcess } from '../support/api-process.js' */

const MESSAGES = 400;
const BASE = Date.now() - 600_000;

const installation = useInstallation();

/** @param {string} clientId */
const start = (clientId) => installation.start({ MQTT_CLIENT_ID: clientId });

/** A process that was there, and has left its session behind. @param {string} clientId */
async function startAndStop(clientId) {
  const api = await start(clientId);
  api.signal('SIGTERM');
  expect((await api.ended).code).toBe(0);
}

/** @param {Record<string, string>} settings on top of the installation's @param {...string} words more flags */
function drain(settings, ...words) {
  const command = startCommand('api/index.js', { ...installation.settings(), ...settings }, [
    '--drain',
    ...words,
  ]);
  installation.afterwards(() => command.kill());
  return command;
}

/** @param {string} device @param {number} from @param {number} count */
async function publish(device, from, count) {
  const client = await installation.connectClient();
  const values = Array.from({ length: count }, (_, i) => from + i);
  await Promise.all(
    values.map((value) =>
      client.publishAsync(
        `iot/v1/${device}/measurements`,
        JSON.stringify({ sensor_id: 's', ts: BASE + value, value }),
        { qos: 1 },
      ),
    ),
  );
}

/** @param {ApiProcess} api @param {string} device @returns {Promise<number[]>} */
async function stored({ httpUrl }, device) {
  const path = `/api/v1/devices/${device}/sensors/s/measurements?from=${BASE}&order=asc&limit=1000`;
  const { status, text } = await send(httpUrl, path);
  return status === 200 ? JSON.parse(text).items.map((/** @type {any} */ { value }) => value) : [];
}

/** Whether the broker has a session of this client id; looking at it ends it. @param {string} clientId */
async function hasSession(clientId) {
  const client = mqtt.connect(installation.broker().url, {
    clientId,
    protocolVersion: 5,
    clean: false,
    manualConnect: true,
  });
  const answer = new Promise((resolve, reject) => {
    client.once('connect', ({ sessionPresent }) => resolve(sessionPresent)).once('error', reject);
  });
  client.connect();
  try {
    return await answer;
  } finally {
    await client.endAsync();
  }
}

const zeroTo = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i);

test('what waits in the session of a stopped process is stored, and the session is gone; another goes on', async () => {
  const other = await start('ingest-1');
  await startAndStop('ingest-2');
  await publish('d', 0, MESSAGES);
  // The broker gives the member that is away its share all the same.
  await until(async () => (await stored(other, 'd')).length > MESSAGES / 4);
  expect((await stored(other, 'd')).length).toBeLessThan(MESSAGES);

  const { code, output } = await drain({ MQTT_CLIENT_ID: 'ingest-2' }).ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  const settled = Number(/ingest-2: (\d+) messages settled; its session at .* is ended\./.exec(output)?.[1]);
  expect(settled).toBeGreaterThan(0);
  await until(async () => (await stored(other, 'd')).length === MESSAGES);
  expect(await stored(other, 'd')).toEqual(zeroTo(MESSAGES));
  expect(await hasSession('ingest-2')).toBe(false);

  // Nothing is shared with it any more.
  await publish('d', MESSAGES, 50);
  await until(async () => (await stored(other, 'd')).length === MESSAGES + 50);
  expect((await send(other.httpUrl, '/readyz')).status).toBe(200);
});

test('where there is no session it says so, and leaves none; a job that is tried again may find it so', async () => {
  const settings = { MQTT_CLIENT_ID: 'never-there', LOG_LEVEL: 'error' };
  const { code, output } = await drain(settings).ended;
  expect({ code, output }).toMatchObject({ code: 77 });
  expect(output).toContain('has no session of never-there. Check MQTT_CLIENT_ID');
  expect(await hasSession('never-there')).toBe(false);

  const again = await drain(settings, '--or-none').ended;
  expect(again).toMatchObject({
    code: 0,
    output: expect.stringContaining('never-there: 0 messages settled'),
  });
  expect(await hasSession('never-there')).toBe(false);
});

test('stopped before the end it keeps the session', async () => {
  await startAndStop('ingest-3');
  const draining = drain({ MQTT_CLIENT_ID: 'ingest-3' });
  await until(() => draining.output().includes('ingest-3: 0 messages settled, 0 under way'));
  draining.signal('SIGTERM');
  const { code, output } = await draining.ended;
  expect(code).toBe(1);
  expect(output).toContain('Stopped before the end: the broker keeps the session of ingest-3.');
  expect(await hasSession('ingest-3')).toBe(true);
});

test('a process that still runs loses its session to it, and says so', async () => {
  const running = await start('ingest-4');
  const draining = drain({ MQTT_CLIENT_ID: 'ingest-4' });
  expect((await running.ended).code).toBe(64);
  expect((await draining.ended).code).toBe(0);
  expect(await hasSession('ingest-4')).toBe(false);
});

test.each([
  ['without MQTT_URL', { MQTT_URL: '' }, 78, 'MQTT_URL must be set for --drain'],
  ['without a broker', { MQTT_URL: 'mqtt://localhost:PORT' }, 72, 'ECONNREFUSED'],
])('%s: one clear sentence', async (_, { MQTT_URL }, code, says) => {
  const url = MQTT_URL.replace('PORT', String(await freePort()));
  const ended = await drain({ MQTT_URL: url, LOG_LEVEL: 'error' }).ended;
  expect(ended).toMatchObject({ code, output: expect.stringContaining(says) });
  expect(ended.output.trim().split('\n')).toHaveLength(1);
});

test('Drain: --or-none without --drain: an error, and nothing starts', async () => {
  const command = startCommand('api/index.js', {}, ['--or-none']);
  installation.afterwards(() => command.kill());
  expect(await command.ended).toMatchObject({
    code: 2,
    output: expect.stringContaining('--or-none needs --drain'),
  });
});
