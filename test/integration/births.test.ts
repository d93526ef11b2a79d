import { expect, test } from '@jest/globals';
import { readRequests } from '../support/metrics.ts';
import { connectDevice } from '../support/mqtt/device.ts';
import { startTestSystem } from '../support/system/index.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);

const birth = (device: string, content: object, by = client) => by.send(device, 'birth', content);

const measure = (device: string, sensor: string, value: number) =>
  client.measure(device, [{ sensor_id: sensor, ts: Date.now(), value }]);

const UUID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

test('Device birth: lists sensors by id and by name: the device and its sensors are registered', async () => {
  await birth('newborn', {
    session: Date.now(),
    name: 'The newborn',
    site: 'Ward 3',
    sensors: [
      { sensor_id: 'pulse', type: 'Pulse', unit: 'bpm', interval_ms: 1000 },
      { sensor_id: UUID, name: 'breath', type: 'Respiration', unit: '/min' },
      { name: 'temperature' },
    ],
  });
  const { name, site, sensors } = await system.get('/devices/newborn');
  expect({ name, site }).toEqual({ name: 'The newborn', site: 'Ward 3' });
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(sensors.sort(byName)).toEqual([
    expect.objectContaining({ sensor_id: UUID, name: 'breath', type: 'Respiration', unit: '/min', ts: null }),
    expect.objectContaining({ name: 'pulse', type: 'Pulse', unit: 'bpm', interval_ms: 1000, value: null }),
    expect.objectContaining({ name: 'temperature', type: null, unit: null, interval_ms: null }),
  ]);
  await measure('newborn', 'pulse', 120);
  const { items } = await system.get('/latest?site=Ward%203&type=Pulse');
  expect(items).toEqual([
    expect.objectContaining({ device: 'The newborn', name: 'pulse', site: 'Ward 3', value: 120 }),
  ]);
});

test('Device birth: the same birth is repeated: nothing is written to the database, also after a restart', async () => {
  const content = {
    session: Date.now(),
    name: 'Again',
    site: 'S',
    sensors: [{ sensor_id: 't', name: 't', type: 'T', unit: 'U', interval_ms: 9 }],
  };
  const writes = async (api: { httpUrl: string }) => {
    const names = ['write_device', 'write_sensors', 'index_type', 'index_site', 'index_name'];
    const counts = names.map((query) => readRequests(api, query));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  await birth('again', content);
  const before = await writes(system);
  await birth('again', content);
  expect((await writes(system)) - before).toBe(0);

  const other = await startTestSystem({ settings: { CQL_KEYSPACE: system.config.cql.keyspace } });
  try {
    const second = await connectDevice(other);
    await birth('again', content, second);
    await second.end();
    expect(await writes(other)).toBe(0);
  } finally {
    await other.halt();
  }
});
