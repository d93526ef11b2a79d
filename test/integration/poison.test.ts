import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../support/dead-letters.ts';
import { readMetric } from '../support/metrics.ts';
import { connectDevice } from '../support/mqtt/device.ts';
import { useExternalBroker } from '../support/mqtt/external-broker.ts';
import type { TestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;
const NOW = Date.now();
const ROUNDS = 20;

/** Messages that are refused: the topic below `iot/v1/`, and the payload. */
const INVALID: Array<[string, string | Buffer]> = [
  ['invalid/measurements', ''],
  ['invalid/measurements', '{'],
  ['invalid/measurements', '[{"sensor_id":"t","value":NaN}]'],
  ['invalid/measurements', '[{"sensor_id":"t"},7,null,{"value":1}]'],
  ['invalid/measurements', `[${'0,'.repeat(10_000)}0]`],
  ['invalid/measurements', Buffer.from([0x1f, 0x8b, 0x08])],
  ['invalid/measurements', Buffer.from('81a2006174', 'hex')],
  ['invalid/measurements', JSON.stringify({ sensor_id: 't', ts: 5, value: 1 })],
  [`${'x'.repeat(129)}/measurements`, '{"sensor_id":"t","value":1}'],
  ['invalid/birth', '{'],
  ['invalid/birth', '{"sensors":7}'],
  ['invalid/status', 'maybe'],
];

const { connectDevice: connectExternal, startSystem, startMqttProxy, afterwards } = useExternalBroker();

/** A message with samples of five hours, which needs five requests. */
const fiveHourMessage = (round: number) =>
  JSON.stringify(
    [0, 1, 2, 3, 4].map((hour) => ({ sensor_id: 's', ts: NOW - hour * HOUR - round, value: round })),
  );

/** Publishes invalid messages, and valid ones that need five requests each, all at once. */
const publishAll = (publish: (topic: string, payload: string | Buffer) => Promise<unknown>) =>
  Promise.all(
    Array.from({ length: ROUNDS }, (_, round) => [
      ...INVALID.map(([topic, payload]) => publish(`iot/v1/${topic}`, payload)),
      publish('iot/v1/good/measurements', fiveHourMessage(round)),
    ]).flat(),
  );

async function expectAllSettled(system: TestSystem) {
  await until(async () => (await readMetric(system, 'iot_ingest_unsettled_bytes')) === 0);
  for (const gauge of ['iot_ingest_in_flight', 'iot_ingest_waiting']) {
    expect({ gauge, value: await readMetric(system, gauge) }).toEqual({ gauge, value: 0 });
  }
  expect(await readMetric(system, 'iot_ingest_messages_total{result="unsettled"}')).toBe(0);
  const { items } = await system.get(
    `/devices/good/sensors/s/measurements?from=${NOW - 6 * HOUR}&limit=1000`,
  );
  expect(items).toHaveLength(5 * ROUNDS);
  expect(await readDeadLetters(system)).toHaveLength(INVALID.length * ROUNDS);
}

test('Invalid MQTT messages: external broker, INGEST_MAX_IN_FLIGHT=1: all are acknowledged on one connection, and valid ones are stored', async () => {
  const mqttProxy = await startMqttProxy();
  const system = await startSystem({ MQTT_URL: mqttProxy.url, INGEST_MAX_IN_FLIGHT: '1' });
  const client = await connectExternal();
  await publishAll((topic, payload) => client.publishAsync(topic, payload, { qos: 1 }));
  const count = (INVALID.length + 1) * ROUNDS;
  await until(() => mqttProxy.last().acknowledged.length === count);
  expect(mqttProxy.last().acknowledged).toEqual(mqttProxy.last().delivered);
  await expectAllSettled(system);
  await client.publishAsync('iot/v1/good/measurements', fiveHourMessage(ROUNDS), { qos: 1 });
  await until(() => mqttProxy.last().acknowledged.length === count + 1);
  expect(mqttProxy.connections).toHaveLength(1);
});

test('Invalid MQTT messages: embedded broker, INGEST_MAX_IN_FLIGHT=1: all are acknowledged on one connection, and valid ones are stored', async () => {
  const system = await startSystem({ MQTT_URL: '', INGEST_MAX_IN_FLIGHT: '1' });
  const device = await connectDevice(system);
  afterwards(() => device.end());
  await publishAll(device.publish);
  await expectAllSettled(system);
  await device.publish('iot/v1/good/measurements', fiveHourMessage(ROUNDS));
  expect(device.closed()).toBe(0);
});
