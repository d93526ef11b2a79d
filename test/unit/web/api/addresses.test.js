import { expect, test } from '@jest/globals';
import { VIEWS } from '../../../../api/http/dashboard.js';
import { identifyDevice, identifySensor, NS } from '../../../../schema/ids.js';
import { toQuery } from '../../../../web/api/request.ts';
import { addressOf } from '../../../../web/api/stream.ts';
import {
  deadLetterHref,
  deviceHref,
  NAMESPACE,
  routeOf,
  sensorHref,
  withQuery,
} from '../../../../web/routes.ts';

test('Routes: the addresses of the server: each has its view', () => {
  const views = VIEWS.map((path) => routeOf(path).view);
  expect(views).not.toContain('not-found');
  expect(new Set(views).size).toBe(VIEWS.length);
});

test('Routes: names with slashes, percent signs and umlauts: they survive the address', () => {
  const device = 'mühle/1 %2F?';
  const sensor = 'a/b#c';
  expect(routeOf(deviceHref(device))).toEqual({ view: 'device', device });
  expect(routeOf(sensorHref(device, sensor))).toEqual({ view: 'sensor', device, sensor });
});

test('Addresses: names that the ids are made of: names; any others: ids', () => {
  const collar = identifyDevice('collar-0001')?.id ?? '';
  const sensor = identifySensor(collar, 'temperature/ear')?.id ?? '';
  expect(sensorHref(collar, sensor, { device: 'collar-0001', sensor: 'temperature/ear' })).toBe(
    '/devices/collar-0001/sensors/temperature%2Fear',
  );
  expect(deviceHref(collar, 'collar-0001')).toBe('/devices/collar-0001');
  // A birth may name a device in another way than its topic.
  expect(deviceHref(collar, 'Collar of Bella')).toBe(`/devices/${collar}`);
  expect(sensorHref(collar, sensor, { device: 'Collar of Bella', sensor: null })).toBe(
    `/devices/${collar}/sensors/${sensor}`,
  );
  const dots = identifyDevice('..')?.id ?? '';
  expect(deviceHref(dots, '..')).toBe(`/devices/${dots}`);
  expect(NAMESPACE).toBe(NS);
});

test.each(['.', '..'])(
  'Routes: a device named %s: the link searches for it, since no path leads to it',
  (device) => {
    const { pathname, search } = new URL(deviceHref(device), 'http://localhost/devices/a/sensors/b');
    expect(routeOf(pathname)).toEqual({ view: 'fleet' });
    expect(Object.fromEntries(new URLSearchParams(search))).toEqual({ show: 'devices', name: device });
  },
);

test('Routes: links of the header: each has its view', () => {
  expect(routeOf('/pipeline')).toEqual({ view: 'pipeline' });
  expect(routeOf('/dead-letters')).toEqual({ view: 'dead-letters' });
  expect(routeOf('/credentials')).toEqual({ view: 'credentials' });
  expect(routeOf(new URL(deadLetterHref('a b'), 'http://localhost').pathname)).toEqual({
    view: 'dead-letters',
  });
});

test.each([
  '/nowhere',
  '/pipeline/x',
  '/constructor',
  '/devices',
  '/devices/a/sensors',
  '/devices/a/b/c',
  '/devices/%E0%A4%A',
])('Routes: %s: not found', (path) => expect(routeOf(path)).toEqual({ view: 'not-found' }));

test('Query: a filter: it is set, and an empty one is removed', () => {
  const place = { path: '/', query: new URLSearchParams('type=pulse&cursor=abc'), trail: [] };
  expect(withQuery(place, { site: 'north & south', cursor: null })).toBe('/?type=pulse&site=north+%26+south');
  expect(withQuery(place, { type: '', cursor: null })).toBe('/');
});

test('Query: empty parameters: they are left out', () => {
  expect(toQuery({ type: 'pulse', site: null, name: '', limit: 25, cursor: undefined })).toBe(
    '?type=pulse&limit=25',
  );
  expect(toQuery({})).toBe('');
});

test('Stream: devices and sensors: each part is encoded; without any it follows the whole fleet', () => {
  expect(addressOf({})).toBe('/api/v1/stream');
  expect(addressOf({ devices: ['a&b'] })).toBe('/api/v1/stream?device=a%26b');
  const [, raw = ''] = addressOf({ sensors: [['a/b', 'c']] }).split('sensor=');
  expect(decodeURIComponent(raw).split('/').map(decodeURIComponent)).toEqual(['a/b', 'c']);
});
