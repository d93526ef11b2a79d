import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { startMosquitto } from '../support/mosquitto.js';
import { startTestSystem } from '../support/system.js';
import { until } from '../support/until.js';

/** @import { TestSystem } from '../support/system.js' */

const MINUTE_MS = 60_000;

/** The tests move this clock, so that no test waits for a minute. */
let now = Date.now();
/** @type {TestSystem} */
let system;
/** @type {mqtt.MqttClient} */
let client;
beforeAll(async () => {
  system = await startTestSystem({ clock: () => now });
  client = await mqtt.connectAsync(system.mqttUrl);
});
afterAll(async () => {
  await client?.endAsync(true);
  await system?.stop();
});

/** @param {string} device @param {'online' | 'offline'} state @param {number} session epoch ms */
const status = (device, state, session) =>
  client.publishAsync(`iot/v1/${device}/status`, JSON.stringify({ state, session }), {
    qos: 1,
    retain: true,
  });

/** @param {string} device */
const measure = (device) =>
  client.publishAsync(
    `iot/v1/${device}/measurements`,
    JSON.stringify({ sensor_id: 't', ts: now, value: 1 }),
    { qos: 1 },
  );

/** @param {string} device @returns {Promise<{ online: boolean, last_seen: string | null }>} */
const read = (device) => system.get(`/devices/${device}`);

/** @template T @param {T[]} list @returns {T[][]} */
const permutations = (list) =>
  list.length < 2
    ? [list]
    : list.flatMap((item, index) => permutations(list.toSpliced(index, 1)).map((rest) => [item, ...rest]));

describe('Presence: messages in any order: the newest session decides', () => {
  const old = now - 10_000;
  const young = now - 5000;
  const birth = /** @type {const} */ (['birth', young]);

  test.each([
    { left: false, last: /** @type {const} */ ('online') },
    { left: true, last: /** @type {const} */ ('offline') },
  ])('$last', async ({ left, last }) => {
    const messages = [
      /** @type {const} */ (['online', old]),
      /** @type {const} */ (['offline', old]),
      /** @type {const} */ (['online', young]),
      left ? /** @type {const} */ (['offline', young]) : birth,
    ];
    await Promise.all(
      permutations(messages).map(async (order, index) => {
        const device = `${last}-${index}`;
        for (const [kind, session] of order) {
          if (kind !== 'birth') await status(device, kind, session);
          else await client.publishAsync(`iot/v1/${device}/birth`, JSON.stringify({ session }), { qos: 1 });
        }
        expect([order, (await read(device)).online]).toEqual([order, last === 'online']);
      }),
    );
  });
});

test('Presence: status is a bare word: it counts as well', async () => {
  for (const state of ['online', 'offline', 'online']) {
    now += 1;
    await client.publishAsync('iot/v1/bare/status', state, { qos: 1, retain: true });
    expect((await read('bare')).online).toBe(state === 'online');
  }
  // An empty payload deletes the retained message. It is no status of the device.
  await client.publishAsync('iot/v1/bare/status', '', { qos: 1, retain: true });
  expect((await read('bare')).online).toBe(true);
});

test('Presence: the connection breaks: the last will sets it offline', async () => {
  const session = now;
  const payload = Buffer.from(JSON.stringify({ state: 'offline', session }));
  const device = await mqtt.connectAsync(system.mqttUrl, {
    reconnectPeriod: 0,
    will: { topic: 'iot/v1/breaking/status', payload, qos: 1, retain: true },
  });
  const online = JSON.stringify({ state: 'online', session });
  await device.publishAsync('iot/v1/breaking/status', online, { qos: 1, retain: true });
  expect((await read('breaking')).online).toBe(true);
  device.stream.destroy();
  await until(async () => !(await read('breaking')).online);

  // The device reconnects, with a session that began later.
  now += 1000;
  await status('breaking', 'online', now);
  expect((await read('breaking')).online).toBe(true);
});

test('Presence: no status ever: online for five minutes after its last message', async () => {
  const seenAt = now;
  await measure('silent');
  now = seenAt + 5 * MINUTE_MS - 1;
  expect(await read('silent')).toMatchObject({ online: true, last_seen: new Date(seenAt).toISOString() });
  now = seenAt + 5 * MINUTE_MS;
  expect((await read('silent')).online).toBe(false);
});

test('last_seen: several messages in a minute: written once', async () => {
  const first = now;
  const lastSeen = async () => Date.parse((await read('seen')).last_seen ?? '');
  await measure('seen');
  now = first + MINUTE_MS - 1;
  await measure('seen');
  expect(await lastSeen()).toBe(first);
  now = first + MINUTE_MS;
  await Promise.all([measure('seen'), measure('seen')]);
  expect(await lastSeen()).toBe(now);
});

test('last_seen: a process starts and receives a retained status: unchanged', async () => {
  const broker = await startMosquitto();
  try {
    const device = await mqtt.connectAsync(broker.url);
    const online = JSON.stringify({ state: 'online', session: Date.now() });
    await device.publishAsync('iot/v1/replayed/status', online, { qos: 1, retain: true });
    const settings = { MQTT_URL: broker.url, CQL_KEYSPACE: system.config.cql.keyspace };
    const other = await startTestSystem({ settings });
    try {
      const found = await until(async () => {
        const response = await other.fetch('/devices/replayed');
        const body = response.status === 200 ? await response.json() : null;
        return body?.online && body;
      });
      expect(found.last_seen).toBeNull();
      await device.publishAsync('iot/v1/replayed/status', online, { qos: 1, retain: true });
      await until(async () => (await other.get('/devices/replayed')).last_seen !== null);
    } finally {
      await other.halt();
      await device.endAsync(true);
    }
  } finally {
    await broker.remove();
  }
});
