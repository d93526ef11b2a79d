import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import { openReader } from '../support/live-reader.ts';
import { connectDevice, type Device } from '../support/mqtt/device.ts';
import { startMosquitto } from '../support/mqtt/mosquitto.ts';
import { startTestSystem, type TestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

const start = Date.now() - 600_000;
let now = start;

describe('Live topics by name, embedded broker', () => {
  let system: TestSystem;
  let device: Device;
  const readers: MqttClient[] = [];
  beforeAll(async () => {
    system = await startTestSystem();
    device = await connectDevice(system);
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) await reader.endAsync(true);
  });
  afterAll(async () => {
    await device?.end();
    await system?.stop();
  });

  async function follow(...filters: string[]) {
    const { client, received } = await openReader(system.mqttUrl, (opened) => readers.push(opened));
    await client.subscribeAsync(filters);
    return received;
  }

  const measure = (name: string, samples: object[] = [{ sensor_id: 's', ts: now++, value: now }]) =>
    device.measure(name, samples as never);

  test('MQTT live topics: client subscribes by device name: it gets the same message as by device id', async () => {
    const byName = await follow('iot/live/desk');
    const byId = await follow('iot/live/+');
    await measure('desk');
    await until(() => byName.length === 1 && byId.length === 1);
    expect(byName[0]?.items).toEqual(byId[0]?.items);
    expect([byName[0]?.topic, byId[0]?.topic]).toEqual([
      'iot/live/desk',
      `iot/live/${byName[0]?.items[0]?.device_id}`,
    ]);
    expect(byName[0]?.items).toMatchObject([{ device: 'desk', name: 's' }]);
  });

  test('MQTT live topics: another client subscribes by device name: a subscriber to iot/live/# gets each change once', async () => {
    await follow('iot/live/desk', 'iot/live/desk/samples', 'iot/live/+/sensors/+');
    const all = await follow('iot/live/#');
    await measure('desk');
    await measure('other');
    const ofDevices = () => all.filter(({ topic }) => !topic.startsWith('iot/live/stats/'));
    const devices = () => ofDevices().map(({ items }) => items[0]?.device);
    // Changes are in order for each device, not between devices.
    await until(() => devices().includes('desk') && devices().includes('other'));
    // A duplicate would arrive before the next change of this device.
    await measure('desk');
    await until(() => devices().filter((name) => name === 'desk').length > 1);
    expect(devices().sort()).toEqual(['desk', 'desk', 'other']);
  });

  test('MQTT live topics: client subscribes to the samples of a device: it gets each in order, also of late and large messages', async () => {
    const received = await follow('iot/live/meter/samples');
    const samples = Array.from({ length: 250 }, (_, index) => ({
      sensor_id: 's',
      ts: start + index,
      value: index,
    }));
    await measure('meter', samples);
    await measure('meter', [{ sensor_id: 's', ts: start - 5000, value: -1 }]);
    await until(() => received.flatMap(({ items }) => items).length === 251);
    const items = received.flatMap(({ items: some }) => some);
    expect(items.map(({ value }) => value)).toEqual([...samples.map(({ value }) => value), -1]);
    expect(items[3]).toMatchObject({
      device: 'meter',
      name: 's',
      ts: new Date(start + 3).toISOString(),
      value: 3,
    });
    expect(received.map(({ items: some }) => some.length)).toEqual([100, 100, 50, 1]);
  });
});

test('Retained live topics: Mosquitto as broker, LIVE_TOPICS is set: these topics are published, and a later subscriber gets values', async () => {
  const broker = await startMosquitto();
  const system = await startTestSystem({
    settings: {
      MQTT_URL: broker.url,
      LIVE_TOPICS: 'name, samples',
      LIVE_RETAIN: 'true',
      AUTO_REGISTER: 'true',
    },
  });
  const readers: MqttClient[] = [];
  const { client, received } = await openReader(broker.url, (opened) => readers.push(opened));
  try {
    await client.subscribeAsync(['iot/live/+', 'iot/live/+/samples']);
    const name = 'größe';
    await client.publishAsync(
      `iot/v1/${name}/measurements`,
      JSON.stringify({ sensor_id: 'humidity', ts: now++, value: 40 }),
      { qos: 1 },
    );
    await until(() => received.length === 3);
    const { items } = await system.get(`/latest?device=${name}`);
    const { device_id } = items[0];
    expect(Object.fromEntries(received.map(({ topic, items: sent }) => [topic, sent]))).toEqual({
      [`iot/live/${device_id}`]: items,
      [`iot/live/${name}`]: items,
      [`iot/live/${name}/samples`]: items,
    });
    const late = await openReader(broker.url, (opened) => readers.push(opened));
    await late.client.subscribeAsync('iot/live/+/sensors/+');
    await until(() => late.received.length === 1);
    expect(late.received.every(({ retain }) => retain)).toBe(true);
  } finally {
    for (const reader of readers) await reader.endAsync(true);
    await system.stop();
    await broker.remove();
  }
});
