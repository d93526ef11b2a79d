import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../support/dead-letters.ts';
import { readMetric } from '../support/metrics.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);

let devices = 0;
const newDevice = () => `hostile-${devices++}`;

/** @returns settles when the message is acknowledged */
const publish = (device: string, payload: string | Buffer): Promise<unknown> =>
  client.publish(`iot/v1/${device}/measurements`, payload);

test('MQTT payload: 5,000 invalid measurements: one dead letter counts all of them and lists the first hundred', async () => {
  const device = newDevice();
  const before = await readMetric(system, 'iot_ingest_dead_letters_total{code="not_numeric"}');
  await publish(device, JSON.stringify(Array(5000).fill({ sensor_id: 't' })));
  const [deadLetter] = await readDeadLetters(system, device);
  expect(deadLetter?.codes).toEqual({ not_numeric: 5000 });
  expect(deadLetter?.refused).toMatchObject(
    Array.from({ length: 100 }, (_, index) => ({ index, code: 'not_numeric', path: `[${index}].value` })),
  );
  expect(deadLetter?.size).toBeGreaterThan(65_536);
  expect(deadLetter?.payload).toHaveLength(65_536);
  const after = await readMetric(system, 'iot_ingest_dead_letters_total{code="not_numeric"}');
  expect(after - before).toBe(5000);
});

test('MQTT connection: after all hostile payloads: the connection is open, and /readyz answers 200', async () => {
  expect(client.closed()).toBe(0);
  expect((await fetch(`${system.httpUrl}/readyz`)).status).toBe(200);
});
