import { expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { openReader } from '../../../support/live-reader.ts';
import { connectDevice } from '../../../support/mqtt/device.ts';
import { startMosquitto } from '../../../support/mqtt/mosquitto.ts';
import { startTestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

const start = Date.now() - 600_000;
let now = start;

test('Retained live topics: client subscribes later to the embedded broker: it gets the newest values and Home Assistant discovery', async () => {
  const system = await startTestSystem({
    settings: { LIVE_RETAIN: 'true', HOME_ASSISTANT_PREFIX: 'homeassistant' },
  });
  const device = await connectDevice(system);
  const readers: MqttClient[] = [];
  try {
    await device.birth('desk', {
      session: start,
      name: 'desk',
      site: 'office',
      sensors: [{ sensor_id: 'temperature', name: 'temperature', type: 'temperature', unit: 'Cel' }],
    });
    const first = await openReader(system.mqttUrl, (opened) => readers.push(opened));
    await first.client.subscribeAsync('iot/live/desk');
    const measure = (value: number) =>
      device.measure('desk', [{ sensor_id: 'temperature', ts: now++, value }]);
    await measure(20.5);
    // A live message may be dropped while the subscription is new.
    await until(async () => {
      await measure(21.5);
      return first.received.some(({ items }) => items[0]?.value === 21.5);
    });
    const { client, received } = await openReader(system.mqttUrl, (opened) => readers.push(opened));
    await client.subscribeAsync(['iot/live/+/sensors/+', 'homeassistant/#']);
    const under = (root: string) => received.find(({ topic }) => topic.startsWith(root));
    await until(() => under('homeassistant/') && under('iot/'));
    const [config, state] = [under('homeassistant/'), under('iot/')];
    expect(Object(state?.items).value).toBe(21.5);
    expect([config?.retain, state?.retain]).toEqual([true, true]);
    const { device_id, sensor_id } = Object(state?.items);
    expect(config).toMatchObject({
      topic: `homeassistant/sensor/${device_id}/${sensor_id}/config`,
      items: {
        name: 'temperature',
        unique_id: sensor_id,
        state_topic: state?.topic,
        value_template: '{{ value_json.value }}',
        unit_of_measurement: '°C',
        device_class: 'temperature',
        state_class: 'measurement',
        device: { identifiers: [device_id], name: 'desk', suggested_area: 'office' },
      },
    });
    expect(state?.topic).toBe('iot/live/desk/sensors/temperature');
  } finally {
    for (const reader of readers) await reader.endAsync(true);
    await device.end();
    await system.stop();
  }
});

test('Home Assistant: Mosquitto as broker: discovery and availability are retained', async () => {
  const broker = await startMosquitto();
  const system = await startTestSystem({
    settings: { MQTT_URL: broker.url, HOME_ASSISTANT_PREFIX: 'ha/discovery', AUTO_REGISTER: 'true' },
  });
  const readers: MqttClient[] = [];
  const client = await mqtt.connectAsync(broker.url);
  try {
    const payload = JSON.stringify({ sensor_id: 'humidity', ts: now++, value: 40 });
    await client.publishAsync('iot/v1/desk/measurements', payload, { qos: 1 });
    await until(async () => (await system.get('/latest?device=desk')).items.length === 1);
    const { items } = await system.get('/latest?device=desk');
    const { device_id, sensor_id } = items[0];
    const retained = await mqtt.connectAsync(broker.url);
    readers.push(retained);
    const found = new Map<string, string>();
    retained.on('message', (topic, bytes, { retain }) => retain && found.set(topic, String(bytes)));
    const config = `ha/discovery/sensor/${device_id}/${sensor_id}/config`;
    await until(async () => {
      await retained.subscribeAsync(['iot/live/+/status', 'ha/#']);
      return found.size === 2;
    });
    expect(found.get('iot/live/desk/status')).toBe('online');
    expect(JSON.parse(String(found.get(config)))).toMatchObject({ name: 'humidity' });
  } finally {
    for (const reader of readers) await reader.endAsync(true);
    await client.endAsync(true);
    await system.stop();
    await broker.remove();
  }
});
