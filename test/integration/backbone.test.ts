import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useTestSystem } from '../support/system/use.ts';

const system = useTestSystem();

test('Measurement: published over MQTT: HTTP returns it in latest and in history', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl);
  try {
    const ts = Date.now();
    const message = JSON.stringify({ sensor_id: 'temperature', ts, value: 21.5 });
    await client.publishAsync('iot/v1/thermometer/measurements', message, { qos: 1 });

    // The acknowledgement comes after the commit, so everything can be read at once.
    const { items } = await system.get('/latest');
    expect(items).toEqual([
      expect.objectContaining({
        device: 'thermometer',
        name: 'temperature',
        ts: new Date(ts).toISOString(),
        value: 21.5,
      }),
    ]);
    const raw = await system.get(`/devices/thermometer/sensors/temperature/measurements?from=${ts}`);
    expect(raw).toEqual({ items: [{ ts: new Date(ts).toISOString(), value: 21.5 }], next: null });
  } finally {
    await client.endAsync();
  }
});
