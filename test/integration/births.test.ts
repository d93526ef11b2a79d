import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../support/dead-letters.ts';
import { readMetric } from '../support/metrics.ts';
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

test('Device birth: 20 measurements are sent at the same moment: the sensor has the type of the birth', async () => {
  const session = Date.now();
  await Promise.all([
    birth('quick', { session, sensors: [{ sensor_id: 't', type: 'Temperature' }] }),
    ...Array.from({ length: 20 }, (_, index) => measure('quick', 't', index)),
  ]);
  const { sensors } = await system.get('/devices/quick');
  expect(sensors).toEqual([expect.objectContaining({ name: 't', type: 'Temperature' })]);
});

test('Device birth: device was already registered by a measurement: name, site and sensor type of the birth are stored', async () => {
  const session = Date.now() - 60_000;
  await measure('early', 't', 1);
  await birth('early', {
    session,
    name: 'Early',
    site: 'B',
    sensors: [{ sensor_id: 't', type: 'Temperature' }],
  });
  const { name, site, sensors } = await system.get('/devices/early');
  expect({ name, site }).toEqual({ name: 'Early', site: 'B' });
  expect(sensors).toEqual([expect.objectContaining({ name: 't', type: 'Temperature', value: 1 })]);
});

test('Device birth: a birth with a later session changes names, type and site: /latest finds the sensors by the new values only', async () => {
  const session = Date.now() - 1000;
  const sensors = [{ sensor_id: 'a', type: 'Old' }, { sensor_id: 'b' }];
  await birth('moving', { session, name: 'Before', site: 'Here', sensors });
  await birth('moving', {
    session: session + 1,
    name: 'After',
    site: 'There',
    sensors: [{ sensor_id: 'a', name: 'renamed', type: 'New', unit: 'V' }],
  });
  const found = await system.all('/latest?device=moving');
  expect(found).toHaveLength(2);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ device: 'After', name: 'renamed', type: 'New', unit: 'V', site: 'There' }),
      expect.objectContaining({ device: 'After', name: 'b', site: 'There' }),
    ]),
  );
  expect(await system.all('/latest?site=There')).toHaveLength(2);
  expect(await system.all('/latest?site=Here')).toEqual([]);
  expect(await system.all('/latest?type=New')).toHaveLength(1);
  expect(await system.all('/latest?type=Old')).toEqual([]);
  expect(await system.all('/latest?name=renam')).toHaveLength(1);
});

test('Device birth: a birth with an earlier session is delivered again: name, site and sensor type of the device do not change', async () => {
  const session = Date.now();
  await birth('late', {
    session: session - 1,
    name: 'Zzz',
    site: 'Zzz',
    sensors: [{ sensor_id: 't', type: 'Zzz' }],
  });
  const sensors = (type: string) => [{ sensor_id: 't', type, unit: type, interval_ms: 5 }];
  await birth('late', { session, name: 'New', site: 'New', sensors: sensors('New') });
  const before = [await system.get('/devices/late'), await system.all('/latest?device=late')];
  const again = { session: session - 1, name: 'Zzz', site: 'Zzz', sensors: sensors('Zzz') };
  await client.publish('iot/v1/late/birth', JSON.stringify(again), { dup: true });
  expect([await system.get('/devices/late'), await system.all('/latest?device=late')]).toEqual(before);
  // The cache of the process is still right, so the measurement changes no attribute.
  await measure('late', 't', 5);
  expect((await system.get('/devices/late')).sensors).toEqual([
    expect.objectContaining({ type: 'New', value: 5 }),
  ]);
});

test('Device birth: the clock of the device went back: the device has the name and site of the birth that arrived last', async () => {
  const session = Date.now() - 60_000;
  const named = (name: string) => ({ name, site: name, sensors: [{ sensor_id: 't', name }] });
  await birth('set-back', { session, ...named('Zzz') });
  await birth('set-back', { session: session - 86_400_000, ...named('New') });
  expect(await system.all('/latest?device=set-back')).toEqual([
    expect.objectContaining({ device: 'New', site: 'New', name: 'New' }),
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
    const counts = names.map((query) =>
      readMetric(api, `iot_db_request_seconds_count{query="${query}",ok="true"}`),
    );
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

test('Device birth: session number is in the future, missing or too small: the birth that arrived last names the device', async () => {
  await birth('ahead', { session: Date.now() + 86_400_000, name: 'First' });
  await birth('ahead', { name: 'Second' });
  await birth('ahead', { session: 7, name: 'Third' });
  expect((await system.get('/devices/ahead')).name).toBe('Third');
});

test('Device birth: some sensors are invalid: a dead letter lists the invalid sensors, and valid ones are registered', async () => {
  await birth('mixed', {
    sensors: [
      { sensor_id: 'good' },
      null,
      { sensor_id: '' },
      { sensor_id: 'x', type: 7 },
      { sensor_id: 'x', interval_ms: -1 },
      { sensor_id: 'x', interval_ms: 2 ** 31 },
      {},
      { sensor_id: 'x', unit: '' },
      { sensor_id: 'good', type: 'twice' },
      { sensor_id: 'also good' },
    ],
  });
  const { sensors } = await system.get('/devices/mixed');
  expect(sensors.map(({ name }: { name: string }) => name).sort()).toEqual(['also good', 'good']);
  const [deadLetter] = await readDeadLetters(system, 'mixed');
  expect(deadLetter?.refused).toMatchObject([
    { index: 1, code: 'malformed', path: 'sensors[1]', rule: 'must be an object' },
    { index: 2, code: 'bad_id', path: 'sensors[2].sensor_id', rule: 'must not be empty' },
    { index: 3, code: 'bad_id', path: 'sensors[3].type', rule: 'must be a text' },
    { index: 4, code: 'malformed', path: 'sensors[4].interval_ms' },
    { index: 5, code: 'malformed', path: 'sensors[5].interval_ms' },
    { index: 6, code: 'bad_id', path: 'sensors[6].sensor_id', rule: 'is missing' },
    { index: 7, code: 'bad_id', path: 'sensors[7].unit', rule: 'must not be empty' },
  ]);
});

test('Device birth: device would exceed 10,000 sensors: the sensors beyond the limit become dead letters', async () => {
  const sensors = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ sensor_id: `s${from + index}` }));
  await birth('many', { sensors: sensors(0, 10_001) });
  await birth('many', { sensors: sensors(0, 9_999) });
  await birth('many', { sensors: sensors(9_990, 20) });
  const deadLetters = await readDeadLetters(system, 'many');
  expect(deadLetters.map(({ codes }) => codes)).toEqual([
    { registration_limit: 1 },
    { registration_limit: 10 },
  ]);
  expect(deadLetters[1]?.refused[0]).toMatchObject({
    index: 10,
    code: 'registration_limit',
    path: 'sensors[10]',
    rule: 'its device must not have more than 10000 sensors',
  });
  expect((await system.get('/devices/many')).sensors).toHaveLength(10_000);
});
