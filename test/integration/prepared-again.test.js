import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from '../support/http/index.js';
import { connectDevice } from '../support/mqtt/device.js';
import { startTestSystem } from '../support/system/index.js';

/** @import { Device } from '../support/mqtt/device.js' */
/** @import { TestSystem } from '../support/system/index.js' */

/** @type {TestSystem} */
let system;
/** @type {Device} */
let device;
beforeAll(async () => {
  system = await startTestSystem();
  device = await connectDevice(system);
});
afterAll(async () => {
  await device?.end();
  await system?.stop();
});

test('Prepared writes: the database forgets its statements: they are prepared again, and nothing is lost', async () => {
  const now = Date.now();
  const measure = (/** @type {number} */ n) =>
    device.measure('again', [{ sensor_id: 's', ts: now - 60_000 + n * 1000, value: n }]);
  for (let n = 0; n < 3; n++) await measure(n);
  const database = await system.openDatabase();
  try {
    // A change of a table makes the server forget each statement about it.
    await database.execute('ALTER TABLE message ADD of_a_test int', [], { prepare: false });
    await database.execute('ALTER TABLE latest ADD of_a_test int', [], { prepare: false });
    await Promise.all([3, 4, 5, 6].map(measure));
  } finally {
    await database.shutdown();
  }
  const { text } = await send(
    system.httpUrl,
    '/api/v1/devices/again/sensors/s/measurements?order=asc&limit=10',
  );
  expect(JSON.parse(text).items.map((/** @type {{ value: number }} */ { value }) => value)).toEqual([
    0, 1, 2, 3, 4, 5, 6,
  ]);
});
