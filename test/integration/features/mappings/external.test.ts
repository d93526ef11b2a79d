import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../../support/directory.ts';
import { readMetric } from '../../../support/metrics.ts';
import { storedValues, useExternalBroker } from '../../../support/mqtt/external-broker.ts';
import { until } from '../../../support/until.ts';

const { connectDevice, startSystem } = useExternalBroker();

const directory = useDirectory('mappings');
const file = join(directory, 'mappings.yaml');
writeFileSync(
  file,
  `mappings:
  - use: homeassistant
  - { name: sensors, topic: 'farm/{device}/{sensor}', values: [{ pointer: '' }] }
`,
);

test('Mapped topics: external broker: values and a retained description are stored; other topics are not subscribed', async () => {
  const client = await connectDevice();
  const config = {
    state_topic: 'homeassistant/sensor/bedroom/state',
    unit_of_measurement: '°C',
    device_class: 'temperature',
    value_template: '{{ value_json.t }}',
  };
  const topic = 'homeassistant/sensor/bedroomT/config';
  await client.publishAsync(topic, JSON.stringify(config), { qos: 1, retain: true });
  await client.publishAsync('farm/old/s', '1', { qos: 1, retain: true });
  const system = await startSystem({ MQTT_MAPPINGS: file });
  await until(async () => (await system.fetch('/devices/bedroom')).status === 200);
  await client.publishAsync('homeassistant/sensor/bedroom/state', '{"t":21.5}', { qos: 1 });
  await client.publishAsync('other/topic', '1', { qos: 1 });
  for (const value of ['1', '2.5', '3']) await client.publishAsync('farm/barn/s', value, { qos: 1 });
  await until(async () => (await storedValues(system, 'barn')).length === 3);
  await until(async () => (await system.get('/devices/bedroom')).sensors[0]?.value === 21.5);
  expect((await system.get('/devices/bedroom')).sensors).toMatchObject([
    { name: 't', unit: '°C', type: 'temperature', value: 21.5 },
  ]);
  expect((await storedValues(system, 'barn')).sort()).toEqual([1, 2.5, 3]);
  // Two topic patterns of the preset match this message. Ingest counts it once.
  const states = 'iot_ingest_mapped_messages_total{mapping="homeassistant/state",result="read"}';
  expect(await readMetric(system, states)).toBe(1);
  // A shared subscription gets no retained messages, so an old value of unknown age is not stored.
  expect((await system.fetch('/devices/old')).status).toBe(404);
  expect((await system.get('/unmatched-topics')).items).toEqual([]);
  expect(await readMetric(system, 'iot_ingest_mapped_messages_total{mapping="sensors",result="read"}')).toBe(
    3,
  );
});
