import { describe, expect, test } from '@jest/globals';
import { Fleet } from '../../../../web/state/fleet.ts';
import {
  itemOf,
  matchingDevices,
  matchingSensors,
  pageOf,
  sortedSensors,
  sortSensors,
} from '../../../../web/state/lists.ts';

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

const query = (text: string) => new URLSearchParams(text);
const all = sortSensors(filled().sensors.values());
const names = (sensors: { device: { name: string }; name: string }[]) =>
  sensors.map(({ device, name }) => `${device.name}/${name}`);

describe('List of a whole fleet', () => {
  test('Sensor list of the fleet: sorted by device and name; sorted by value: equal values stay in that order', () => {
    const usual = ['collar-2/pulse', 'collar-2/temperature', 'collar-10/pulse', 'id-nameless/pulse'];
    expect(names(all)).toEqual(usual);
    expect(names(sortedSensors(all, { by: 'device', down: false }))).toEqual(usual);
    expect(names(sortedSensors(all, { by: 'value', down: true }))).toEqual([
      'collar-2/pulse',
      'collar-10/pulse',
      'collar-2/temperature',
      'id-nameless/pulse',
    ]);
  });

  test('Sensor list of the fleet: name filter: matches any part of the sensor or device name', () => {
    expect(names(matchingSensors(all, query('name=LAR-2')))).toHaveLength(2);
    expect(names(matchingSensors(all, query('name=emp')))).toEqual(['collar-2/temperature']);
    expect(matchingSensors(all, query('type=pulse&site=South'))).toEqual([]);
  });

  test('Sensor list of the fleet: a stored sensor becomes a list item: equal to the item of the API', () => {
    expect(all.map(itemOf)).toEqual(expect.arrayContaining(ITEMS));
  });

  test('Sensor list of the fleet: 60 sensors: pages of 25 rows; page number beyond the last: the last page is shown', () => {
    const numbers = Array.from({ length: 60 }, (_, number) => number);
    expect(pageOf(numbers, query(''))).toMatchObject({ number: 1, total: 60, items: numbers.slice(0, 25) });
    expect(pageOf(numbers, query('page=3')).items).toEqual(numbers.slice(50));
    expect(pageOf(numbers, query('page=99')).number).toBe(3);
    expect(pageOf(numbers, query('page=-1')).number).toBe(1);
    expect(pageOf([], query('page=2'))).toEqual({ items: [], total: 0, number: 1 });
  });

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
    expect(matchingDevices(devices, query('name=AT')).map(({ name }) => name)).toEqual(['gate']);
    expect(matchingDevices(devices, query('state=online')).map(({ name }) => name)).toEqual(['collar-1']);
    expect(matchingDevices(devices, query('site=North'))).toEqual([]);
  });
});

describe('Fleet', () => {
  test('Fleet store: holdsAll() is true once all sensors that the API counts are loaded, and false with a filter', () => {
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
});
