import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { parseSnapshot } from '../../api/observability/process-stats.ts';
import { openStream } from '../support/http/event-stream.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';
import { until } from '../support/until.ts';

let now = Date.now() - 600_000;

const system = useTestSystem();
const device = useDevice(system);
/** another client, which may support MQTT 3.1.1 only */
let otherClient: MqttClient;
const messages: Array<{ topic: string; payload: string }> = [];

beforeAll(async () => {
  otherClient = await mqtt.connectAsync(system.mqttUrl);
  system.beforeStop(() => otherClient.endAsync(true));
  otherClient.on('message', (topic, payload) => messages.push({ topic, payload: String(payload) }));
});
beforeEach(() => {
  messages.length = 0;
});

const measure = () => device.measure('a', [{ sensor_id: 's', ts: now++, value: now }]);

test('MQTT live topics: client subscribes, then unsubscribes: it receives the changes in between', async () => {
  await otherClient.subscribeAsync('iot/live/+');
  await measure();
  await until(() => messages.length === 1);
  const { items } = await system.get('/latest?device=a');
  expect(messages).toEqual([{ topic: `iot/live/${items[0].device_id}`, payload: JSON.stringify(items) }]);

  await otherClient.unsubscribeAsync('iot/live/+');
  await measure();
  // The broker answers after the commit. No message is in transit after this answer.
  await otherClient.subscribeAsync('elsewhere');
  expect(messages).toHaveLength(1);
});

test('MQTT live topics: MQTT 5 client subscribes by id and by name: each message has waited_ms', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl, { protocolVersion: 5 });
  try {
    const waited: unknown[] = [];
    client.on('message', (_, __, { properties }) => waited.push(properties?.userProperties?.['waited_ms']));
    await client.subscribeAsync(['iot/live/+', 'iot/live/a', 'iot/live/a/sensors/s']);
    await measure();
    await until(() => waited.length === 3);
    expect(waited).toEqual(Array(3).fill(expect.stringMatching(/^\d+$/)));
  } finally {
    await client.endAsync(true);
  }
});

test('MQTT live topics: client subscribes to iot/live/stats/+: it receives the statistics of the process', async () => {
  await otherClient.subscribeAsync('iot/live/stats/+');
  await until(() => messages.length > 0);
  await otherClient.unsubscribeAsync('iot/live/stats/+');
  const [{ client_id }] = (await system.get('/pipeline')).processes;
  const [published] = messages;
  expect(published?.topic).toBe(`iot/live/stats/${encodeURIComponent(client_id)}`);
  expect(parseSnapshot(Buffer.from(published?.payload ?? ''))).toMatchObject({ window: expect.any(Number) });
});

test('MQTT live topics: client publishes on a live topic: no MQTT client and no event stream sends the message on', async () => {
  await measure();
  const [item] = (await system.get('/latest?device=a')).items;
  const reader = await openStream(`${system.httpUrl}/api/v1/stream`);
  try {
    await reader.first('snapshot');
    await otherClient.subscribeAsync('iot/live/#');
    // The time appears in no other message. Three digits may appear in any statistics or timestamp.
    const forgedTime = '2026-01-01T00:00:00.000Z';
    const forged = JSON.stringify([{ ...item, ts: forgedTime, value: 666 }]);
    for (const qos of [0, 1] as const) {
      await otherClient.publishAsync(`iot/live/${item.device_id}`, forged, { qos, retain: true });
    }
    await measure();
    await until(() => messages.some(({ topic }) => topic.endsWith(item.device_id)));
    await until(() => reader.items('delta').length > 0);
    expect(messages.some(({ payload }) => payload.includes(forgedTime))).toBe(false);
    expect(reader.items('delta').some(({ value }) => value === 666)).toBe(false);
  } finally {
    reader.close();
  }
});
