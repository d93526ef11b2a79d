import { expect, test } from '@jest/globals';
import { VIEWS } from '../../../api/http/static.js';
import { toQuery } from '../../../web/api/request.js';
import { addressOf } from '../../../web/api/stream.js';
import { deadLetterHref, deviceHref, routeOf, sensorHref } from '../../../web/routes.js';
import { withQuery } from '../../../web/state/router.js';

test('Routes: an address of the server: it names the view whose modules the page preloads', () => {
  expect(VIEWS.map(({ path }) => routeOf(path).view)).toEqual(
    VIEWS.map(({ module }) => module.slice('/assets/views/'.length, -'.js'.length)),
  );
});

test('Routes: names with slashes, percent signs and umlauts: they survive the address', () => {
  const device = 'mühle/1 %2F?';
  const sensor = 'a/b#c';
  expect(routeOf(deviceHref(device))).toEqual({ view: 'device', device });
  expect(routeOf(sensorHref(device, sensor))).toEqual({ view: 'sensor', device, sensor });
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
