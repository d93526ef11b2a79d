import { expect, test } from '@jest/globals';
import { chooseSensors } from '../../../../web/state/device.ts';

const MANY = Array.from({ length: 30 }, (_, index) => ({
  sensor_id: `id-${index}`,
  name: index === 29 ? null : `s${index}`,
  label: index === 7 ? 'Under the lamp' : null,
  type: index % 2 === 0 ? 'Temperature' : 'Pulse',
  unit: index % 2 === 0 ? 'Cel' : null,
}));
const choose = (query: string) => chooseSensors(MANY, new URLSearchParams(query));

test('Sensors of a device page: address without parameters: the first 12 sensors are shown; with shown=24: the first 24', () => {
  expect(choose('')).toEqual({ shown: MANY.slice(0, 12), found: 30, more: '24' });
  expect(choose('shown=24')).toEqual({ shown: MANY.slice(0, 24), found: 30, more: '36' });
  expect(choose('shown=36')).toEqual({ shown: MANY, found: 30, more: null });
});

test('Sensors of a device page: address with find=lamp: sensors with that text in name, label, type or id are shown', () => {
  expect(choose('find=S2').shown.map(({ name }) => name)).toEqual([
    's2',
    ...Array.from({ length: 9 }, (_, n) => `s2${n}`),
  ]);
  expect(choose('find=temp').found).toBe(15);
  expect(choose('find=id-29').found).toBe(1);
  expect(choose('find=lamp').shown.map(({ name }) => name)).toEqual(['s7']);
  expect(choose('find=nothing')).toEqual({ shown: [], found: 0, more: null });
});
