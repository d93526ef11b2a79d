import { expect, test } from '@jest/globals';
import { send } from '../support/http/index.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';

const system = useTestSystem();
const device = useDevice(system);

test('Prepared statements: Cassandra drops them after ALTER TABLE: the process prepares them again, and no sample is lost', async () => {
  const now = Date.now();
  const measure = (n: number) =>
    device.measure('again', [{ sensor_id: 's', ts: now - 60_000 + n * 1000, value: n }]);
  for (let n = 0; n < 3; n++) await measure(n);
  // After ALTER TABLE the server forgets each prepared statement about the table.
  await system.execute('ALTER TABLE message ADD of_a_test int', [], { prepare: false });
  await system.execute('ALTER TABLE latest ADD of_a_test int', [], { prepare: false });
  await Promise.all([3, 4, 5, 6].map(measure));
  const { text } = await send(
    system.httpUrl,
    '/api/v1/devices/again/sensors/s/measurements?order=asc&limit=10',
  );
  expect(JSON.parse(text).items.map(({ value }: { value: number }) => value)).toEqual([0, 1, 2, 3, 4, 5, 6]);
});
