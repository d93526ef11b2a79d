import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { startTestEngine } from '../../support/database/engine.ts';
import { readDeadLetters } from '../../support/dead-letters.ts';
import { startMosquitto } from '../../support/mqtt/mosquitto.ts';
import { type MqttProxy, startMqttProxy } from '../../support/mqtt/mqtt-proxy.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const HOUR = 3_600_000;

/** The start of the current hour. Late samples would also go into history, in a row that the server refuses as well. */
const BASE = Math.floor(Date.now() / HOUR) * HOUR;

const cleanUps: Array<() => Promise<unknown>> = [];
let proxy: MqttProxy;
let system: TestSystem;
let client: mqtt.MqttClient;
let published = 0;

beforeAll(async () => {
  // The server refuses larger mutations of one partition as invalid. Its default limit is 16 MiB.
  const engine = await startTestEngine({ settings: { max_mutation_size: '40KiB' } });
  cleanUps.push(() => engine.dispose());
  const broker = await startMosquitto();
  cleanUps.push(() => broker.remove());
  proxy = await startMqttProxy(broker.url);
  cleanUps.push(() => proxy.stop());
  system = await startTestSystem({
    settings: { CQL_CONTACT_POINTS: engine.contactPoint, MQTT_URL: proxy.url },
  });
  cleanUps.push(() => system.stop());
  client = await mqtt.connectAsync(broker.url);
  cleanUps.push(() => client.endAsync(true));
});
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function publish(kind: string, content: unknown): Promise<void> {
  await client.publishAsync(`iot/v1/d/${kind}`, JSON.stringify(content), { qos: 1 });
  published++;
  await until(() => proxy.last().acknowledged.length === published);
}

test('Ingest: Cassandra refuses the write of a message for its size: the message is written row by row, and no sample is lost', async () => {
  const samples = Array.from({ length: 9000 }, (_, i) => ({ sensor_id: 's', ts: BASE + i, value: i % 100 }));
  await publish('measurements', [...samples, { sensor_id: 'other', ts: BASE, value: 1 }]);
  const items = await system.all(`/devices/d/sensors/s/measurements?from=${BASE}&order=asc&limit=1000`);
  expect(items.map(({ value }) => value)).toEqual(samples.map(({ value }) => value));
  expect((await system.get('/devices/d/sensors/other')).value).toBe(1);
  const { rows } = await system.execute('SELECT ts FROM message', [], { fetchSize: 5000 });
  expect(rows.length).toBeGreaterThan(2);
  expect(await readDeadLetters(system)).toEqual([]);
});

test('Ingest: Cassandra refused earlier writes for their size: the next message is stored, over the same MQTT connection', async () => {
  await publish('measurements', [{ sensor_id: 'next', ts: BASE, value: 5 }]);
  expect((await system.get('/devices/d/sensors/next')).value).toBe(5);
  expect(proxy.connections).toHaveLength(1);
  expect(proxy.last().acknowledged).toEqual(proxy.last().delivered);
});
