import { expect, test } from '@jest/globals';
import { levelBelow, shortNames, sortGroups } from '../../../../../web/features/wall/groups.ts';
import { Fleet } from '../../../../../web/state/fleet.ts';
import { sensorMatcher } from '../../../../../web/state/lists.ts';
import type { Place } from '../../../../../web/state/places.ts';

const HALL: Place = { path: 'P/Hall 2', levels: ['site', 'area'] };
const LINE: Place = { path: 'P/Hall 2/L', levels: ['site', 'area', 'line'] };
const OTHER: Place = { path: 'P/Hall 10/L', levels: ['site', 'area', 'line'] };
const PLACES: Record<string, Place> = { 'a/x': HALL, 'a/y': LINE, 'b/x': OTHER };

const take = (fleet: Fleet, device_id: string, sensor_id: string) =>
  fleet.take(`${device_id}/${sensor_id}`, {
    device_id,
    sensor_id,
    device: device_id,
    name: sensor_id,
    type: null,
    unit: null,
    site: 'announced',
    ts: null,
    value: null,
  });

function filled() {
  const fleet = new Fleet();
  for (const key of [...Object.keys(PLACES), 'none/x']) take(fleet, ...(key.split('/') as [string, string]));
  return fleet;
}

const groupsOf = (fleet: Fleet, level: string | null, query: string = '') =>
  sortGroups(fleet.devices.values(), { level, matches: sensorMatcher(new URLSearchParams(query)) }).map(
    ({ name, devices }) => [name, devices.flat().map(({ key }) => key)],
  );

test('Wall groups: places are not known yet: the wall shows all sensors by site, also with a place in the address', () => {
  const all = [['announced', ['a/x', 'a/y', 'b/x', 'none/x']]];
  expect(groupsOf(filled(), 'area', 'place=P')).toEqual(all);
  expect(groupsOf(filled(), null)).toEqual(all);
});

test('Wall groups: a level: each place of this level in the order of paths, and the rest last; a device is split by the places of its sensors', () => {
  const fleet = filled();
  fleet.setPlaces((device, sensor) => PLACES[`${device}/${sensor}`] ?? null);
  expect(groupsOf(fleet, 'area')).toEqual([
    ['P/Hall 2', ['a/x', 'a/y']],
    ['P/Hall 10', ['b/x']],
    [null, ['none/x']],
  ]);
  expect(groupsOf(fleet, 'line', 'place=P/Hall+2')).toEqual([
    ['P/Hall 2/L', ['a/y']],
    [null, ['a/x']],
  ]);
  // A name that begins with the wanted one is another place.
  expect(groupsOf(fleet, 'area', 'place=P/Hall')).toEqual([]);
});

test('Fleet store: places: sensors that come later have one too, and equal places do not change the structure', () => {
  const fleet = filled();
  const placesOf = (places: Record<string, Place>) => (device: string, sensor: string) =>
    places[`${device}/${sensor}`] ?? null;
  fleet.setPlaces(placesOf(PLACES));
  take(fleet, 'b', 'y');
  expect(fleet.sensors.get('b/y')?.place).toBe(null);
  const structure = fleet.structure();
  fleet.setPlaces(placesOf({ ...PLACES, 'a/x': { ...HALL } }));
  expect(fleet.structure()).toBe(structure);
  fleet.setPlaces(placesOf({ ...PLACES, 'a/x': { ...HALL, levels: ['enterprise', 'site'] } }));
  expect(fleet.structure()).toBe(structure + 1);
});

test('Wall headings: next level below a place: the shortest names that differ', () => {
  const fleet = filled();
  fleet.setPlaces((device, sensor) => PLACES[`${device}/${sensor}`] ?? null);
  const devices = [...fleet.devices.values()].map(({ sensors }) => sensors);
  expect(levelBelow(devices, 'P/Hall 2')).toBe('line');
  expect(levelBelow(devices, 'P/Hall 2/L')).toBe(null);
  expect([...shortNames(['P/A/L', 'P/B/L', 'P/A', 'L'])]).toEqual([
    ['P/A', 'A'],
    ['L', 'L'],
    ['P/A/L', 'A/L'],
    ['P/B/L', 'B/L'],
  ]);
});
