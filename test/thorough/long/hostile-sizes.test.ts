import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { HOUR_MS } from '../../../schema/rules.ts';
import { readDeadLetters } from '../../support/dead-letters.ts';
import { usedBytes } from '../../support/memory.ts';
import { readMetric } from '../../support/metrics.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const MB = 1024 * 1024;
const MINUTE_MS = 60_000;

const clients: mqtt.MqttClient[] = [];

const system = useTestSystem();
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
});

async function connect() {
  // Backpressure may delay the answer to a ping for longer than any keepalive.
  const client = await mqtt.connectAsync(system.mqttUrl, { reconnectPeriod: 0, keepalive: 0 });
  clients.push(client);
  // The broker may close while the client still writes. The tests wait for `close`.
  client.on('error', () => {});
  return client;
}

test('Dead letters: 200 invalid messages of 1 MB over four connections: each is stored, and memory is bounded', async () => {
  const before = usedBytes();
  let highest = 0;
  const payload = randomBytes(MB - 1024);
  const publishers = await Promise.all([connect(), connect(), connect(), connect()]);
  await Promise.all(
    publishers.map(async (client, index) => {
      const publish = () => client.publishAsync(`iot/v1/bulk-${index}/measurements`, payload, { qos: 1 });
      // Ten messages at a time for each connection. This process sends them too, and its buffers must not count.
      for (let round = 0; round < 5; round++) {
        const sent = Array.from({ length: 10 }, publish);
        // The first acknowledgement of a round comes while the rest is under way.
        await sent[0];
        highest = Math.max(highest, usedBytes());
        await Promise.all(sent);
      }
    }),
  );
  const deadLetters = (await readDeadLetters(system)).filter(({ device }) => device?.startsWith('bulk-'));
  // A message becomes a second dead letter when its sender had to reconnect.
  expect(deadLetters.length).toBeGreaterThanOrEqual(200);
  expect(new Set(deadLetters.map(({ size }) => size))).toEqual(new Set([payload.length]));
  // At most 64 MiB are settled at a time. The buffers of the sender come on top. All messages together are 200 MB.
  expect(highest - before).toBeLessThan(180 * MB);
  await until(async () => (await readMetric(system, 'iot_ingest_unsettled_bytes')) === 0);
});

test('Dead letters: a device floods with bad messages: about 1,000 an hour are stored, and other devices are not affected', async () => {
  const client = await connect();
  const began = Date.now();
  const sent = 1200;
  const good = JSON.stringify({ sensor_id: 't', ts: Date.now(), value: 1 });
  await client.publishAsync('iot/v1/flood/measurements', good, { qos: 1 });
  await Promise.all(
    Array.from({ length: sent }, () => client.publishAsync('iot/v1/flood/measurements', '{', { qos: 1 })),
  );
  const deadLetters = await readDeadLetters(system, 'flood');
  // 1,000 an hour, and one a minute with counts only. The test may pass a full hour.
  const [hours, minutes] = [HOUR_MS, MINUTE_MS].map(
    (ms) => Math.floor(Date.now() / ms) - Math.floor(began / ms) + 1,
  );
  expect(deadLetters.length).toBeGreaterThanOrEqual(1000);
  expect(deadLetters.length).toBeLessThanOrEqual(1000 * Number(hours) + Number(minutes));
  expect(await readMetric(system, 'iot_ingest_dead_letters_total{code="malformed"}')).toBeGreaterThanOrEqual(
    sent,
  );

  // The bound of this device does not apply to other devices.
  await client.publishAsync('iot/v1/well-behaved/measurements', '{', { qos: 1 });
  expect(await readDeadLetters(system, 'well-behaved')).toHaveLength(1);
});
