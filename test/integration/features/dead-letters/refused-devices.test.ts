import { expect, test } from '@jest/globals';
import { identifyDevice } from '../../../../schema/ids.ts';
import { useDevice, useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem();
const device = useDevice(system);

const publish = (name: string, measurements: Record<string, unknown>[]) =>
  device.publish(`iot/v1/${name}/measurements`, JSON.stringify(measurements));

test('GET /dead-letters/devices: measurements were refused: each device has its number of refusals, most refusals first', async () => {
  const before = Date.now();
  await publish('my-desk', [{ sensor_id: 's', ts: before, value: 1 }]);
  await publish('some', [{ sensor_id: 's', ts: before, value: 'warm' }]);
  for (let message = 0; message < 3; message++) {
    await publish('my-desk', [
      { sensor_id: 's', ts: before, value: 'warm' },
      { sensor_id: 't', ts: before, value: null },
    ]);
  }
  const { items, dead_letters, from, to } = await system.get('/dead-letters/devices');
  expect(Date.parse(to) - Date.parse(from)).toBe(300_000);
  expect(dead_letters).toBe(4);
  expect(items).toEqual([
    { device_id: identifyDevice('my-desk')?.id, device: 'my-desk', refused: 6, newest: expect.any(String) },
    { device_id: identifyDevice('some')?.id, device: 'some', refused: 1, newest: expect.any(String) },
  ]);
  expect(Date.parse(items[0].newest)).toBeGreaterThanOrEqual(before - 1);
});
