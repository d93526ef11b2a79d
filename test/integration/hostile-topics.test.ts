import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { readDeadLetters } from '../support/dead-letters.ts';
import { readMetric } from '../support/metrics.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';
import { until } from '../support/until.ts';

/** Limits reads to the last hour, because a year of empty hours takes long to read. */
const RECENT = `from=${Date.now() - 3_600_000}`;

const system = useTestSystem();
const client = useDevice(system);

const measurement = (value: number, ts: number = Date.now()) => JSON.stringify({ sensor_id: 't', ts, value });

test('MQTT message: topic is unknown: acknowledged, dropped and counted; no client receives it', async () => {
  const listener = await mqtt.connectAsync(system.mqttUrl);
  const received: string[] = [];
  // Live messages of ingest about a sample or a process may arrive before or after the test message.
  const published = /^iot\/live\/([0-9a-f-]{36}$|stats\/)/;
  listener.on('message', (topic) => void (published.test(topic) || received.push(topic)));
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
  for (const topic of topics) {
    await client.publish(topic, measurement(1), { retain: true });
  }
  expect(await readMetric(system, 'iot_ingest_messages_total{result="unknown_topic"}')).toBe(topics.length);

  await client.publish('iot/v1/known/measurements', measurement(1));
  // Millrace itself retains its states.
  const others = () => received.filter((topic) => !/^(?:spBv1\.0\/)?STATE\//.test(topic));
  await until(() => others().length > 0);
  expect(others()).toEqual(['iot/v1/known/measurements']);
  expect(client.closed()).toBe(0);
  expect((await readDeadLetters(system)).map(({ topic }) => topic)).toEqual([]);
  await listener.endAsync(true);
});

test('MQTT topic: device name with spaces, emoji or 128 characters: its measurement is stored', async () => {
  for (const device of ['x'.repeat(128), 'Öfen & Co', '$', '..', '%2F', '🌡', 'NULL', '__proto__']) {
    await client.publish(`iot/v1/${device}/measurements`, measurement(3));
    const path = `/latest?device=${encodeURIComponent(device)}`;
    expect((await system.get(path)).items).toEqual([expect.objectContaining({ device, value: 3 })]);
  }
});

test('Retained MQTT message: measurement or birth: stored in the database, not retained by the broker', async () => {
  const ts = Date.now();
  await client.publish('iot/v1/retained/birth', '{"name":"retained"}', { retain: true });
  await client.publish('iot/v1/retained/measurements', measurement(5, ts), { retain: true });
  const status = JSON.stringify({ state: 'online', session: ts });
  await client.publish('iot/v1/retained/status', status, { retain: true });
  const { items } = await system.get(`/devices/retained/sensors/t/measurements?${RECENT}`);
  expect(items).toEqual([{ ts: new Date(ts).toISOString(), value: 5 }]);

  const late = await mqtt.connectAsync(system.mqttUrl);
  const received: [string, string, boolean][] = [];
  late.on('message', (topic, payload, { retain }) => received.push([topic, payload.toString(), retain]));
  await late.subscribeAsync('iot/v1/retained/#', { qos: 1 });
  // Retained messages come before all that is published after this point.
  await client.publish('iot/v1/retained/measurements', measurement(6, ts + 1));
  await until(() => received.some(([topic]) => topic.endsWith('measurements')));
  expect(received).toEqual([
    ['iot/v1/retained/status', status, true],
    ['iot/v1/retained/measurements', measurement(6, ts + 1), false],
  ]);
  await late.endAsync(true);
});

test('MQTT connection: a malformed packet arrives: the broker closes this connection, and others stay open', async () => {
  // Without a keep-alive, the broker has no other reason to close the connection.
  const bad = await mqtt.connectAsync(system.mqttUrl, { reconnectPeriod: 0, keepalive: 0 });
  const closing = new Promise((resolve) => bad.once('close', () => resolve(true)));
  bad.stream.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x7f]));
  await closing;
  expect(client.isConnected()).toBe(true);
});
