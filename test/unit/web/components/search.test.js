import { expect, test } from '@jest/globals';
import { entriesOf, findEntries, resultHref } from '../../../../web/kit/search.tsx';
import { createFleet } from '../../../../web/state/fleet.ts';

/** @param {string} device @param {string} name @param {string} site @returns {any} */
const item = (device, name, site) => ({
  device_id: device,
  sensor_id: name,
  device,
  name,
  type: name,
  unit: null,
  site,
  ts: '2026-11-21T12:00:00.000Z',
  value: 1,
});

const fleet = createFleet();
for (const [device, name, site] of [
  ['collar-10', 'temperature', 'North Meadow'],
  ['collar-9', 'temperature', 'North Meadow'],
  ['collar-9', 'pulse', 'North Meadow'],
  ['meadow-gate', 'open', 'Yard'],
])
  fleet.take(`${device}/${name}`, item(String(device), String(name), String(site)));
const entries = entriesOf({ devices: fleet.devices.values(), sensors: fleet.sensors.values() });

/** @param {string} text */
const found = (text) => findEntries(entries, text).items.map(({ kind, name }) => `${kind} ${name}`);

test('Search: any part of a name, in any case: sites, devices and sensors', () => {
  expect(found('LAR-9').slice(0, 1)).toEqual(['device collar-9']);
  expect(found('yard')).toEqual(['site Yard', 'device meadow-gate', 'sensor open']);
});

test('Search: several words: each is in the name, the type, the device or the site', () => {
  expect(found('collar-9 temp')).toEqual(['sensor temperature']);
  expect(found('pulse yard')).toEqual([]);
});

test('Search: order: names that begin with the text first, numbers by their value', () => {
  expect(found('meadow').slice(0, 2)).toEqual(['device meadow-gate', 'site North Meadow']);
  expect(found('collar').slice(0, 2)).toEqual(['device collar-9', 'device collar-10']);
});

test('Search: nothing typed: nothing found', () => expect(found('  ')).toEqual([]));

test('Search: a result: leads to its site, device or sensor', () => {
  const rest = { device_id: null, sensor_id: null, device: null, type: null, site: null };
  expect(resultHref({ ...rest, kind: 'site', name: 'A & B' })).toBe('/?site=A%20%26%20B');
  const device = { ...rest, kind: /** @type {const} */ ('device'), name: 'd', device_id: 'd', device: 'd' };
  expect(resultHref(device)).toBe('/devices/d');
  expect(resultHref({ ...device, kind: 'sensor', name: 's', sensor_id: 's' })).toBe('/devices/d/sensors/s');
});
