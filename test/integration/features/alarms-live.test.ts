import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../support/clean-ups.ts';
import { openStream } from '../../support/http/event-stream.ts';
import { startMosquitto } from '../../support/mqtt/mosquitto.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const afterwards = useCleanUps();

type Message = { event: string; alarm: { alarm_id: string; device: string } };

async function startSystem(settings: Record<string, string> = {}) {
  const system = await startTestSystem({ settings, periods: { alarmRules: 100 } });
  afterwards(() => system.stop());
  return system;
}

async function follow(url: string, filter: string): Promise<Message[]> {
  const client = await mqtt.connectAsync(url);
  afterwards(() => client.endAsync(true));
  const messages: Message[] = [];
  client.on('message', (topic, payload) => {
    if (topic === 'iot/live/alarms') messages.push(JSON.parse(String(payload)));
  });
  await client.subscribeAsync(filter);
  return messages;
}

/** Opens an alarm of the device, whose name is also the level of the topic of alarms. */
async function openAlarm(system: TestSystem) {
  const rule = { name: 'hot', severity: 'info', scope: { device: 'alarms' } };
  await system.post('/alarm-rules', { ...rule, condition: { kind: 'above', limit: 5 } });
  await system.post('/measurements?device=alarms', { sensor_id: 'heat', ts: Date.now(), value: 9 });
}

test.each(['iot/live/alarms', 'iot/live/+', 'iot/live/#'])(
  'Live alarms, embedded broker: a client subscribes to %s: it gets each change once, and no value of a device on this topic',
  async (filter) => {
    const system = await startSystem({ AUTO_REGISTER: 'true' });
    const messages = await follow(system.mqttUrl, filter);
    await openAlarm(system);
    const { alarm: opened } = await until(() => messages[0]);
    await system.post(`/alarms/${opened.alarm_id}/acknowledge`, {});
    await until(() => messages.some(({ event }) => event === 'acknowledged'));
    expect(messages.map(({ event, alarm }) => [event, alarm.device])).toEqual([
      ['opened', 'alarms'],
      ['acknowledged', 'alarms'],
    ]);
  },
);

test('Live alarms, Mosquitto: an alarm changes in one process: readers of another process get the event, and no forged one', async () => {
  const broker = await startMosquitto();
  afterwards(() => broker.remove());
  const shared = { MQTT_URL: broker.url, AUTO_REGISTER: 'true' };
  const writer = await startSystem(shared);
  const keyspace = { CQL_KEYSPACE: writer.config.cql.keyspace };
  const reader = await startSystem({ ...shared, ...keyspace, MQTT_CLIENT_ID: 'reader' });
  const stream = await openStream(`${reader.httpUrl}/api/v1/stream`);
  afterwards(() => stream.close());
  const alarms = () => stream.events.filter(({ event }) => event === 'alarm').map(({ data }) => data.event);
  const client = await mqtt.connectAsync(broker.url);
  afterwards(() => client.endAsync(true));
  for (const forged of ['no JSON', '{"event":"forged"}', '{"event":"forged","alarm":{}}'])
    await client.publishAsync('iot/live/alarms', forged, { qos: 1 });
  await openAlarm(writer);
  await until(() => alarms().length > 0);
  // A broker may send a message twice, because the reader of the whole fleet also subscribes to `iot/live/+`.
  expect([...new Set(alarms())]).toEqual(['opened']);
});
