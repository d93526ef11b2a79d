import { expect, test } from '@jest/globals';
import { pagesFor, resultHref } from '../../../../../web/features/search/search.tsx';
import type { Page } from '../../../../../web/kit/slots.tsx';

test('Search result: site, device or sensor: the link leads to the fleet filtered by site, the device page or the sensor page', () => {
  const rest = { device_id: null, sensor_id: null, device: null, type: null, site: null };
  expect(resultHref({ ...rest, kind: 'site', name: 'A & B' })).toBe('/?site=A%20%26%20B');
  const device = { ...rest, kind: 'device' as const, name: 'd', device_id: 'd', device: 'd' };
  expect(resultHref(device)).toBe('/devices/d');
  expect(resultHref({ ...device, kind: 'sensor', name: 's', sensor_id: 's' })).toBe('/devices/d/sensors/s');
});

const load = async () => () => null;
const PAGES: Page[] = [
  { name: 'port', label: 'Port a file', words: 'csv', place: 'navigation', load },
  { name: 'past', label: 'Past', words: 'history', place: 'lists', load },
];

test.each([
  ['port', ['Port a file']],
  ['POR', ['Port a file']],
  ['csv', ['Port a file']],
  ['h', ['Fleet', 'Past', 'Manual']],
  ['manual', ['Manual']],
  ['port fi', ['Port a file']],
  ['ort', []],
  [' ', []],
])('Search for pages: %j: %j', (text, names) => {
  expect(pagesFor(text, PAGES).map(({ name }) => name)).toEqual(names);
});
