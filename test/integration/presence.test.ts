import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { startMosquitto } from '../support/mqtt/mosquitto.ts';
import { startTestSystem } from '../support/system/index.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;

/** The tests move this clock, so that no test waits for a minute. */
let now = Date.now();
const system = useTestSystem({ clock: () => now });
const client = useDevice(system);

const status = (device: string, state: 'online' | 'offline', session: number) =>
  client.publish(`iot/v1/${device}/status`, JSON.stringify({ state, session }), { retain: true });

const measure = (device: string) =>
  client.send(device, 'measurements', { sensor_id: 't', ts: now, value: 1 });

const read = (device: string): Promise<{ online: boolean; last_seen: string | null }> =>
  system.get(`/devices/${device}`);

test('Device presence: status payload is the bare word online or offline: the API shows this state', async () => {
  for (const state of ['online', 'offline', 'online']) {
    now += 1;
    await client.publish('iot/v1/bare/status', state, { retain: true });
    expect((await read('bare')).online).toBe(state === 'online');
  }
  // An empty payload deletes the retained message. It is no status of the device.
  await client.publish('iot/v1/bare/status', '', { retain: true });
  expect((await read('bare')).online).toBe(true);
});

test('Device presence: MQTT connection breaks: the last will sets the device offline', async () => {
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

test('Device presence: device never sends a status: online for five minutes after its last message', async () => {
  const seenAt = now;
  await measure('silent');
  now = seenAt + 5 * MINUTE_MS - 1;
  expect(await read('silent')).toMatchObject({ online: true, last_seen: new Date(seenAt).toISOString() });
  now = seenAt + 5 * MINUTE_MS;
  expect((await read('silent')).online).toBe(false);
});

test('Device member last_seen: several messages in a minute: written to the database once', async () => {
  // After a step of the clock, ingest first compares it with the database. This device takes that wait, so that it
  // delays no other.
  await measure('another');
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

test('Device member last_seen: process starts and receives a retained status: last_seen stays null', async () => {
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
