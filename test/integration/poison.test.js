import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../support/dead-letters.js';
import { connectDevice } from '../support/device.js';
import { useExternalBroker } from '../support/external-broker.js';
import { readMetric } from '../support/metrics.js';
import { until } from '../support/until.js';

/** @import { TestSystem } from '../support/system.js' */

const HOUR = 3_600_000;
const NOW = Date.now();
const ROUNDS = 20;

/** What no device should send, each by itself: topic below `iot/v1/`, and payload. @type {Array<[string, string | Buffer]>} */
const POISON = [
  ['poison/measurements', ''],
  ['poison/measurements', '{'],
  ['poison/measurements', '[{"sensor_id":"t","value":NaN}]'],
  ['poison/measurements', '[{"sensor_id":"t"},7,null,{"value":1}]'],
  ['poison/measurements', `[${'0,'.repeat(10_000)}0]`],
  ['poison/measurements', Buffer.from([0x1f, 0x8b, 0x08])],
  ['poison/measurements', Buffer.from('81a2006174', 'hex')],
  ['poison/measurements', JSON.stringify({ sensor_id: 't', ts: 5, value: 1 })],
  [`${'x'.repeat(129)}/measurements`, '{"sensor_id":"t","value":1}'],
  ['poison/birth', '{'],
  ['poison/birth', '{"sensors":7}'],
  ['poison/status', 'maybe'],
];

const { connectDevice: connectOutside, startSystem, startWire, afterwards } = useExternalBroker();

/** The n-th message of five hours, so of five requests. @param {number} round */
const ofFiveHours = (round) =>
  JSON.stringify(
    [0, 1, 2, 3, 4].map((hour) => ({ sensor_id: 's', ts: NOW - hour * HOUR - round, value: round })),
  );

/**
 * Poison, and between it messages that need five requests, all at once.
 *
 * @param {(topic: string, payload: string | Buffer) => Promise<unknown>} publish
 */
const publishAll = (publish) =>
  Promise.all(
    Array.from({ length: ROUNDS }, (_, round) => [
      ...POISON.map(([topic, payload]) => publish(`iot/v1/${topic}`, payload)),
      publish('iot/v1/good/measurements', ofFiveHours(round)),
    ]).flat(),
  );

/** @param {TestSystem} system */
async function expectAllSettled(system) {
  await until(async () => (await readMetric(system, 'iot_ingest_unsettled_bytes')) === 0);
  for (const gauge of ['iot_ingest_in_flight', 'iot_ingest_waiting']) {
    expect({ gauge, value: await readMetric(system, gauge) }).toEqual({ gauge, value: 0 });
  }
  expect(await readMetric(system, 'iot_ingest_messages_total{result="unsettled"}')).toBe(0);
  const { items } = await system.get(
    `/devices/good/sensors/s/measurements?from=${NOW - 6 * HOUR}&limit=1000`,
  );
  expect(items).toHaveLength(5 * ROUNDS);
  const database = await system.openDatabase();
  afterwards(() => database.shutdown());
  expect(await readDeadLetters(database)).toHaveLength(POISON.length * ROUNDS);
}

test('from an external broker: with a single permit all is settled over one connection, and good ones pass', async () => {
  const wire = await startWire();
  const system = await startSystem({ MQTT_URL: wire.url, INGEST_MAX_IN_FLIGHT: '1' });
  const client = await connectOutside();
  await publishAll((topic, payload) => client.publishAsync(topic, payload, { qos: 1 }));
  const count = (POISON.length + 1) * ROUNDS;
  await until(() => wire.last().acknowledged.length === count);
  expect(wire.last().acknowledged).toEqual(wire.last().delivered);
  await expectAllSettled(system);
  await client.publishAsync('iot/v1/good/measurements', ofFiveHours(ROUNDS), { qos: 1 });
  await until(() => wire.last().acknowledged.length === count + 1);
  expect(wire.connections).toHaveLength(1);
});

test('to the embedded broker: the same', async () => {
  const system = await startSystem({ MQTT_URL: '', INGEST_MAX_IN_FLIGHT: '1' });
  const device = await connectDevice(system);
  afterwards(() => device.end());
  await publishAll(device.publish);
  await expectAllSettled(system);
  await device.publish('iot/v1/good/measurements', ofFiveHours(ROUNDS));
  expect(device.closed()).toBe(0);
});
