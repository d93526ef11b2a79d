import { expect, test } from '@jest/globals';
import { Fleet } from '../../../../web/state/fleet.ts';
import { matchingDevices } from '../../../../web/state/lists.ts';

const item = (device: string, name: string, value: number | null) => ({
  device_id: `id-${device}`,
  sensor_id: `id-${name}`,
  device: device === 'nameless' ? null : device,
  name,
  type: name,
  unit: null,
  site: 'North',
  ts: value === null ? null : '2026-11-21T12:00:00.000Z',
  value,
});

const ITEMS = [
  item('collar-10', 'pulse', 70),
  item('collar-2', 'temperature', 38),
  item('collar-2', 'pulse', 71),
  item('nameless', 'pulse', null),
];

function filled() {
  const fleet = new Fleet();
  for (const each of ITEMS) fleet.take(`${each.device_id}/${each.sensor_id}`, each);
  return fleet;
}

const NO_FLEET = new Fleet();

const query = (text: string) => new URLSearchParams(text);

test('Device list of the fleet: filters for state, site and part of the name: only matching devices are listed', () => {
  const devices = ['collar-1', 'gate'].map((name, index) => ({
    device_id: `id-${name}`,
    name,
    site: null,
    label: null,
    state: index === 0 ? ('online' as const) : ('offline' as const),
    online: index === 0,
    last_seen: null,
  }));
  expect(matchingDevices(devices, query('name=AT'), NO_FLEET).map(({ name }) => name)).toEqual(['gate']);
  expect(matchingDevices(devices, query('state=online'), NO_FLEET).map(({ name }) => name)).toEqual([
    'collar-1',
  ]);
  expect(matchingDevices(devices, query('site=North'), NO_FLEET)).toEqual([]);
});

test('Device list of the fleet: filter for a place: devices with a sensor at the place or below it', () => {
  const fleet = filled();
  fleet.setPlaces((device) => (device === 'id-collar-2' ? { path: 'P/H', levels: ['site', 'area'] } : null));
  const devices = ['collar-10', 'collar-2', 'without sensors'].map((name) => ({
    device_id: `id-${name}`,
    name,
    site: null,
    label: null,
    state: 'online' as const,
    online: true,
    last_seen: null,
  }));
  const namesAt = (place: string) =>
    matchingDevices(devices, query(`place=${place}`), fleet).map(({ name }) => name);
  expect([namesAt('P'), namesAt('P/H'), namesAt('P/H/L')]).toEqual([['collar-2'], ['collar-2'], []]);
});

test('Fleet store: holdsAll(): true once all sensors that the API counts are loaded; false with a filter', () => {
  const fleet = filled();
  expect(fleet.holdsAll()).toBe(false);
  fleet.expect(5);
  expect(fleet.holdsAll()).toBe(false);
  fleet.take('new/s', item('new', 's', 1));
  expect(fleet.holdsAll()).toBe(true);
  fleet.expect(6);
  expect(fleet.holdsAll()).toBe(true);
  fleet.setFilter({ site: 'North' });
  expect(fleet.holdsAll()).toBe(false);
});

test('Fleet store: fleet larger than the limit of the store: holdsAll() is false', () => {
  const fleet = new Fleet({ limit: 1 });
  for (const each of ITEMS) fleet.take(`${each.device_id}/${each.sensor_id}`, each);
  fleet.expect(1);
  expect(fleet.holdsAll()).toBe(false);
});
