import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import { readPresets } from '../../../../api/features/mappings/mappings.ts';
import { useDirectory } from '../../../support/directory.ts';
import { useCredentials } from '../../../support/features/credentials/index.ts';
import { readMetric } from '../../../support/metrics.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const INSTALLATION = { username: 'operator', password: 'the password of the operator' };

const directory = useDirectory('mappings');
const file = join(directory, 'mappings.yaml');
writeFileSync(
  file,
  `mappings:
${readPresets()
  .map(({ name }) => `  - use: ${name}`)
  .join('\n')}
  - { name: named, topic: lines/+, device: { pointer: /id }, values: [{ pointer: /v, sensor: v }] }
`,
);

const system = useTestSystem({
  settings: {
    MQTT_MAPPINGS: file,
    MQTT_AUTH: 'true',
    MQTT_USERNAME: INSTALLATION.username,
    MQTT_PASSWORD: INSTALLATION.password,
  },
});
const credentials = useCredentials(system);
let installation: MqttClient;
beforeAll(async () => {
  installation = await credentials.connect(INSTALLATION.username, INSTALLATION.password);
});

const publish = (client: MqttClient, topic: string, payload: unknown) =>
  client.publishAsync(topic, typeof payload === 'string' ? payload : JSON.stringify(payload), { qos: 1 });

const samplesOf = async (device: string, sensor: string): Promise<Array<{ ts: string; value: number }>> =>
  (
    await system.get(
      `/devices/${encodeURIComponent(device)}/sensors/${encodeURIComponent(sensor)}/measurements?limit=1000`,
    )
  ).items;

const isKnown = async (device: string): Promise<boolean> =>
  (await system.fetch(`/devices/${device}`)).status === 200;

test('Mapped topics: account of a device: messages for other devices are acknowledged and dropped', async () => {
  const own = await credentials.connectAs('hall');
  await publish(own, 'zigbee2mqtt/hall', { temperature: 20 });
  expect(await samplesOf('hall', 'temperature')).toMatchObject([{ value: 20 }]);
  const denied = await readMetric(system, 'iot_broker_denied_total{action="publish"}');
  for (const [topic, payload] of [
    ['zigbee2mqtt/vault', { temperature: 20 }],
    ['lines/1', { id: 'vault', v: 1 }],
    [
      'homeassistant/sensor/x/config',
      { state_topic: 'zigbee2mqtt/vault', value_template: '{{ value_json.a }}', unit_of_measurement: 'V' },
    ],
  ] as const) {
    const other = await credentials.connectAs(`intruder-${topic.replaceAll('/', '-')}`);
    // The broker acknowledges and drops the message. Without a PUBACK the client would send it again without end.
    await publish(other, topic, payload);
    expect(other.connected).toBe(true);
  }
  expect(await isKnown('vault')).toBe(false);
  expect((await readMetric(system, 'iot_broker_denied_total{action="publish"}')) - denied).toBe(3);
});

test('Mapped topics: client subscribes to a mapped topic: it receives no message, since such a topic may be a command', async () => {
  const follower = await credentials.connect(INSTALLATION.username, INSTALLATION.password);
  await follower.subscribeAsync('#', { qos: 1 });
  const received: string[] = [];
  follower.on('message', (topic) => received.push(topic));
  await installation.publishAsync('zigbee2mqtt/hall', '{"temperature":21}', { qos: 1, retain: true });
  await installation.publishAsync('zigbee2mqtt/hall/set', '{"state":"ON"}', { qos: 1 });
  await publish(installation, 'iot/v1/hall/measurements', { sensor_id: 'temperature', value: 21 });
  while (!received.includes('iot/v1/hall/measurements')) {
    await new Promise((resolve) => follower.once('message', resolve));
  }
  const late = await credentials.connect(INSTALLATION.username, INSTALLATION.password);
  late.on('message', (topic) => received.push(topic));
  await late.subscribeAsync('zigbee2mqtt/#', { qos: 1 });
  await late.subscribeAsync('nothing', { qos: 1 });
  expect(received.filter((topic) => topic.startsWith('zigbee2mqtt'))).toEqual([]);
});
