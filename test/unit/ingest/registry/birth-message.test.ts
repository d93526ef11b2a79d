import { expect, test } from '@jest/globals';
import { readBirth } from '../../../../api/ingest/registry/birth-message.ts';
import { admit } from '../../../../api/ingest/registry/births.ts';
import { blankDevice, blankSensor } from '../../../../api/ingest/registry/cache.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';

const DEVICE = identifyDevice('pump') as Identity;
const NOW = Date.UTC(2026, 10, 22);
const TOO_MANY = 'must not have more than 10000 elements';
const INTERVAL = 'must be a whole number of ms from 1 to 2147483647';

const read = (content: unknown) => readBirth(Buffer.from(JSON.stringify(content)), DEVICE, NOW);

test.each([
  [null, 'malformed', '', 'must be an object'],
  ['t', 'malformed', '', 'must be an object'],
  [{}, 'bad_id', '.sensor_id', 'is missing'],
  [{ sensor_id: '' }, 'bad_id', '.sensor_id', 'must not be empty'],
  [{ sensor_id: 7 }, 'bad_id', '.sensor_id', 'must be a text'],
  [{ name: 'x'.repeat(129) }, 'bad_id', '.name', 'must not be longer than 128 bytes'],
  [{ sensor_id: 't', name: 'a\n' }, 'bad_id', '.name', 'must not contain control characters'],
  [{ sensor_id: 't', type: 7 }, 'bad_id', '.type', 'must be a text'],
  [{ sensor_id: 't', unit: '' }, 'bad_id', '.unit', 'must not be empty'],
  [{ sensor_id: 't', interval_ms: 0 }, 'malformed', '.interval_ms', INTERVAL],
  [{ sensor_id: 't', interval_ms: 2 ** 31 }, 'malformed', '.interval_ms', INTERVAL],
  [{ sensor_id: 't', interval_ms: 0.5 }, 'malformed', '.interval_ms', INTERVAL],
  [{ sensor_id: 't', interval_ms: '5' }, 'malformed', '.interval_ms', INTERVAL],
])(
  'Birth message: sensor %j: refused with code, path and rule; other sensors are accepted',
  (sensor, code, field, rule) => {
    const { sensors, refused } = read({ sensors: [{ sensor_id: 'a' }, sensor, { sensor_id: 'b' }] });
    expect(refused).toEqual([{ index: 1, code, path: `sensors[1]${field}`, rule }]);
    expect(sensors.map(({ index, name }) => [index, name])).toEqual([
      [0, 'a'],
      [2, 'b'],
    ]);
  },
);

test.each([
  ['an array', [], 'malformed', '', 'must be one object'],
  ['sensors as an object', { sensors: {} }, 'malformed', 'sensors', 'must be an array'],
  ['sensors as null', { sensors: null }, 'malformed', 'sensors', 'must be an array'],
  ['an empty name', { name: '' }, 'bad_id', 'name', 'must not be empty'],
  ['a number as site', { site: 7 }, 'bad_id', 'site', 'must be a text'],
  ['10,001 sensors', { sensors: Array(10_001) }, 'registration_limit', 'sensors', TOO_MANY],
])('Birth message: %s: wholly refused with code, path and rule', (_, content, code, path, message) => {
  expect(() => read(content)).toThrow(expect.objectContaining({ code, path, message }));
});

test('Birth message: 10,000 sensors: accepted', () => {
  const sensors = Array.from({ length: 10_000 }, (_, at) => ({ sensor_id: `s${at}` }));
  expect(read({ sensors }).sensors).toHaveLength(10_000);
});

test('Birth message: the topic has the device id instead of a name: no name is set', () => {
  const byId = identifyDevice(DEVICE.id) as Identity;
  expect(readBirth(Buffer.from('{}'), byId, NOW).name).toBeUndefined();
});

test('Birth message: a sensor is listed by its name and by its id: the first entry is used', () => {
  const id = identifySensor(DEVICE.id, 't')?.id;
  const { sensors, refused } = read({
    sensors: [{ sensor_id: 't', unit: 'V' }, { sensor_id: id, unit: 'A' }, { name: 't' }],
  });
  expect(sensors).toEqual([expect.objectContaining({ index: 0, unit: 'V', intervalMs: undefined })]);
  expect(refused).toEqual([]);
});

test('Birth message: device has 9,999 of 10,000 sensors: one new sensor is accepted, the next one refused', () => {
  const device = blankDevice({ id: DEVICE.id, bytes: DEVICE.bytes, group: 0, name: null, retiredAt: null });
  for (let at = 0; at < 9_999; at++) {
    const { id, bytes } = identifySensor(DEVICE.id, `s${at}`) as SensorIdentity;
    device.sensors.set(id, blankSensor({ id, bytes, deviceName: null, name: null, site: null }));
  }
  const birth = read({ sensors: ['new', 's0', 'more', 's1'].map((sensor_id) => ({ sensor_id })) });
  const { taken, refused } = admit(device, birth);
  expect(taken.map(({ name }) => name)).toEqual(['new', 's0', 's1']);
  const rule = 'its device must not have more than 10000 sensors';
  expect(refused).toEqual([{ index: 2, code: 'registration_limit', path: 'sensors[2]', rule }]);
});
