import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { readDeadLetters } from '../support/dead-letters.js';
import { readMetric } from '../support/metrics.js';
import { useOneDevice } from '../support/one-device.js';
import { until } from '../support/until.js';

/** A year of empty hours need not be read. */
const RECENT = `from=${Date.now() - 3_600_000}`;

const here = useOneDevice();

/** @param {number} value @param {number} [ts] */
const measurement = (value, ts = Date.now()) => JSON.stringify({ sensor_id: 't', ts, value });

test('Unknown topics: acknowledged, dropped and counted; no client receives them', async () => {
  const listener = await mqtt.connectAsync(here.system.mqttUrl);
  /** @type {string[]} */
  const received = [];
  // What ingest itself tells of a sample, and each process of itself, may come before it or behind.
  const ours = /^iot\/live\/([0-9a-f-]{36}$|stats\/)/;
  listener.on('message', (topic) => void (ours.test(topic) || received.push(topic)));
  await listener.subscribeAsync('#');
  const topics = [
    'a',
    '/',
    'iot/v1/a',
    'iot/v1/a/',
    'iot/v1//measurements/x',
    'iot/v1/a/b/measurements',
    'iot/v2/a/measurements',
    'iot/v1/a/Measurements',
    'iot/live/latest',
    '$SYS/broker/uptime',
    '$share/x/iot/v1/a/measurements',
    `iot/v1${'/x'.repeat(98)}`,
    `iot/v1${'/x'.repeat(99)}`,
    `iot/v1/${'/'.repeat(30_000)}`,
  ];
  for (const topic of topics) await here.client.publishAsync(topic, measurement(1), { qos: 1, retain: true });
  expect(await readMetric(here.system, 'iot_ingest_messages_total{result="unknown_topic"}')).toBe(
    topics.length,
  );

  await here.client.publishAsync('iot/v1/listened/measurements', measurement(1), { qos: 1 });
  await until(() => received.length > 1);
  expect(received).toEqual(['spBv1.0/STATE/millrace-1', 'iot/v1/listened/measurements']);
  expect(here.closed()).toBe(0);
  expect((await readDeadLetters(here.database)).map(({ topic }) => topic)).toEqual([]);
  await listener.endAsync(true);
});

test('a will whose topic has too many levels is counted like any other outside the contract', async () => {
  const unknownTopic = 'iot_ingest_messages_total{result="unknown_topic"}';
  const before = await readMetric(here.system, unknownTopic);
  const will = {
    topic: `iot/v1${'/x'.repeat(99)}`,
    payload: Buffer.from('x'),
    qos: /** @type {const} */ (1),
  };
  const leaving = await mqtt.connectAsync(here.system.mqttUrl, { reconnectPeriod: 0, will });
  leaving.stream.destroy();
  await until(async () => (await readMetric(here.system, unknownTopic)) === before + 1);
});

test.each([
  ['no name', ''],
  ['a control character', 'a\u0007b'],
  ['129 bytes', `${'x'.repeat(127)}é`],
])('Topic: a device with %s: a dead letter bad_id', async (_, device) => {
  await here.client.publishAsync(`iot/v1/${device}/measurements`, measurement(1), { qos: 1 });
  const [deadLetter] = await readDeadLetters(here.database, device);
  expect(deadLetter?.codes).toEqual({ bad_id: 1 });
  expect(here.closed()).toBe(0);
});

test('names may hold anything else', async () => {
  for (const device of ['x'.repeat(128), 'Öfen & Co', '$', '..', '%2F', '🌡', 'NULL', '__proto__']) {
    await here.client.publishAsync(`iot/v1/${device}/measurements`, measurement(3), { qos: 1 });
    const path = `/latest?device=${encodeURIComponent(device)}`;
    expect((await here.system.get(path)).items).toEqual([expect.objectContaining({ device, value: 3 })]);
  }
});

test('retained measurements and births are stored, and retained for nobody', async () => {
  const ts = Date.now();
  await here.client.publishAsync('iot/v1/retained/birth', '{"name":"retained"}', { qos: 1, retain: true });
  await here.client.publishAsync('iot/v1/retained/measurements', measurement(5, ts), {
    qos: 1,
    retain: true,
  });
  const status = JSON.stringify({ state: 'online', session: ts });
  await here.client.publishAsync('iot/v1/retained/status', status, { qos: 1, retain: true });
  const { items } = await here.system.get(`/devices/retained/sensors/t/measurements?${RECENT}`);
  expect(items).toEqual([{ ts: new Date(ts).toISOString(), value: 5 }]);

  const late = await mqtt.connectAsync(here.system.mqttUrl);
  /** @type {[string, string, boolean][]} */
  const received = [];
  late.on('message', (topic, payload, { retain }) => received.push([topic, payload.toString(), retain]));
  await late.subscribeAsync('iot/v1/retained/#', { qos: 1 });
  // Retained messages come before everything that is published from now on.
  await here.client.publishAsync('iot/v1/retained/measurements', measurement(6, ts + 1), { qos: 1 });
  await until(() => received.some(([topic]) => topic.endsWith('measurements')));
  expect(received).toEqual([
    ['iot/v1/retained/status', status, true],
    ['iot/v1/retained/measurements', measurement(6, ts + 1), false],
  ]);
  await late.endAsync(true);
});

test('QoS 0 is stored as well', async () => {
  await here.client.publishAsync('iot/v1/qos-0/measurements', measurement(7), { qos: 0 });
  await until(async () => (await here.system.get('/latest?device=qos-0')).items[0]?.value === 7);
});

test('QoS 2 is acknowledged after the commit', async () => {
  const ts = Date.now();
  await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      here.client.publishAsync('iot/v1/qos-2/measurements', measurement(at, ts - at), { qos: 2 }),
    ),
  );
  expect((await here.system.get(`/devices/qos-2/sensors/t/measurements?${RECENT}`)).items).toHaveLength(100);
});

test('one device with more sensors than it may have keeps what it has', async () => {
  const batch = (/** @type {number} */ from, /** @type {number} */ count) =>
    JSON.stringify(Array.from({ length: count }, (_, at) => ({ sensor_id: `s${from + at}`, value: at })));
  await here.client.publishAsync('iot/v1/crowded/measurements', batch(0, 9_999), { qos: 1 });
  await here.client.publishAsync('iot/v1/crowded/measurements', batch(9_990, 20), { qos: 1 });
  const [deadLetter, ...more] = await readDeadLetters(here.database, 'crowded');
  expect(more).toEqual([]);
  expect(deadLetter?.codes).toEqual({ registration_limit: 10 });
  expect(deadLetter?.refused[0]).toMatchObject({ index: 10, code: 'registration_limit' });
  expect((await here.system.get('/devices/crowded')).sensors).toHaveLength(10_000);
});

test('after all of this the connection stands', async () => {
  expect(here.closed()).toBe(0);
  expect(here.client.connected).toBe(true);
});

test('a broken packet closes its own connection alone', async () => {
  const bad = await mqtt.connectAsync(here.system.mqttUrl, { reconnectPeriod: 0 });
  const closing = new Promise((resolve) => bad.once('close', () => resolve(true)));
  bad.stream.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x7f]));
  await closing;
  expect(here.client.connected).toBe(true);
});
