import { expect, test } from '@jest/globals';
import { useCleanUps } from '../support/clean-ups.ts';
import { readDeadLetters } from '../support/dead-letters.ts';
import { connectDevice } from '../support/mqtt/device.ts';
import { startTestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

const afterwards = useCleanUps();

async function start(settings: Record<string, string>) {
  const system = await startTestSystem({ settings });
  afterwards(() => system.stop());
  const device = await connectDevice(system);
  afterwards(device.end);
  return {
    system,
    publish: device.send,
    deadLetters: (name: string) => readDeadLetters(system, name),
  };
}

test('Unknown device: AUTO_REGISTER=false: its messages become dead letters, and are stored when its birth arrives', async () => {
  const { system, publish, deadLetters } = await start({ AUTO_REGISTER: 'false' });
  const ts = Date.now();
  await publish('early', 'measurements', [
    { sensor_id: 't', ts: ts - 1, value: 1 },
    { sensor_id: 'other', ts, value: 2 },
  ]);
  await publish('early', 'measurements', { sensor_id: 't', ts, value: 3 });
  await publish('early', 'status', { state: 'online', session: ts });
  expect((await deadLetters('early')).map(({ codes }) => codes)).toEqual([
    { unknown_device: 2 },
    { unknown_device: 1 },
    { unknown_device: 1 },
  ]);
  expect((await system.fetch('/devices/early')).status).toBe(404);

  await publish('early', 'birth', { session: ts, sensors: [{ sensor_id: 't' }] });
  const page = await until(async () => {
    const { items } = await system.get(`/devices/early/sensors/t/measurements?from=${ts - 10}`);
    return items.length === 2 && items;
  });
  expect(page.map(({ value }: { value: number }) => value)).toEqual([3, 1]);
  await until(async () => (await system.get('/devices/early')).online);

  // The birth does not name this sensor.
  expect((await system.fetch('/devices/early/sensors/other')).status).toBe(404);
  await publish('early', 'measurements', [
    { sensor_id: 'other', ts, value: 4 },
    { sensor_id: 't', ts: ts + 1, value: 5 },
  ]);
  const last = (await deadLetters('early')).at(-1);
  expect(last?.refused).toMatchObject([{ index: 0, code: 'unknown_sensor' }]);
  expect((await system.get('/devices/early/sensors/t')).value).toBe(5);
});
