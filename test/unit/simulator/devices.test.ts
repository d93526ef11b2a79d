import { expect, test } from '@jest/globals';
import { describeDevices } from '../../../simulator/fleet/devices.ts';

const options = { devices: 40, seed: 11, intervalMs: 1000 };

const read = (devices: ReturnType<typeof describeDevices>) =>
  devices.map(({ name, site, sensors }) => ({
    name,
    site,
    sensors: sensors.map((sensor) => ({
      name: sensor.name,
      values: Array.from({ length: 50 }, sensor.read),
    })),
  }));

test('Simulated devices: equal seeds give equal devices and values, another seed gives other values', () => {
  expect(read(describeDevices(options))).toEqual(read(describeDevices(options)));
  expect(read(describeDevices({ ...options, seed: 12 }))).not.toEqual(read(describeDevices(options)));
});

test('Simulated devices: 40 collars have readable names, five sites and 1 to 4 sensors of different types', () => {
  const devices = describeDevices(options);
  expect(devices[0]?.name).toBe('collar-0001');
  expect(describeDevices({ ...options, device: 'load' })[39]?.name).toBe('load-0040');
  expect(new Set(devices.map(({ name }) => name)).size).toBe(40);
  expect(new Set(devices.map(({ site }) => site)).size).toBe(5);
  expect([...new Set(devices.map(({ sensors }) => sensors.length))].sort()).toEqual([1, 2, 3, 4]);
  for (const { sensors } of devices)
    expect(new Set(sensors.map(({ type }) => type)).size).toBe(sensors.length);
});

test('Simulated devices: a sensor is added: the values of the other sensors do not change', () => {
  const few = read(describeDevices({ ...options, sensors: 2 }));
  const many = read(describeDevices({ ...options, sensors: 3 }));
  expect(many.map(({ sensors }) => sensors.slice(0, 2))).toEqual(few.map(({ sensors }) => sensors));
});
