import { expect, test } from '@jest/globals';
import { VIEWS } from '../../../../api/http/dashboard.ts';
import { identifyDevice, identifySensor, NS } from '../../../../schema/ids.ts';
import { toQuery } from '../../../../web/api/request.ts';
import { addressOf } from '../../../../web/api/stream/target.ts';
import { deviceHref, NAMESPACE, routeOf, sensorHref, withQuery } from '../../../../web/routes.ts';

test('Dashboard routes: each page address that the HTTP server accepts: opens a different view', () => {
  const views = VIEWS.map((path) => routeOf(path, []).view);
  expect(views).not.toContain('not-found');
  expect(new Set(views).size).toBe(VIEWS.length);
});

test('Dashboard routes: names with slashes, percent signs and umlauts: the route returns the names unchanged', () => {
  const device = 'mühle/1 %2F?';
  const sensor = 'a/b#c';
  expect(routeOf(deviceHref(device), [])).toEqual({ view: 'device', device });
  expect(routeOf(sensorHref(device, sensor), [])).toEqual({ view: 'sensor', device, sensor });
});

test('Dashboard links: the id is derived from the name: the link holds the name; otherwise the link holds the id', () => {
  const collar = identifyDevice('collar-0001')?.id ?? '';
  const sensor = identifySensor(collar, 'temperature/ear')?.id ?? '';
  expect(sensorHref(collar, sensor, { device: 'collar-0001', sensor: 'temperature/ear' })).toBe(
    '/devices/collar-0001/sensors/temperature%2Fear',
  );
  expect(deviceHref(collar, 'collar-0001')).toBe('/devices/collar-0001');
  // The name of a device in its birth message may differ from the name in its topic.
  expect(deviceHref(collar, 'Collar of Bella')).toBe(`/devices/${collar}`);
  expect(sensorHref(collar, sensor, { device: 'Collar of Bella', sensor: null })).toBe(
    `/devices/${collar}/sensors/${sensor}`,
  );
  const dots = identifyDevice('..')?.id ?? '';
  expect(deviceHref(dots, '..')).toBe(`/devices/${dots}`);
  expect(NAMESPACE).toBe(NS);
});

test.each(['.', '..'])(
  'Dashboard links: device named %s, which no URL path can hold: the link opens the device list filtered by name',
  (device) => {
    const { pathname, search } = new URL(deviceHref(device), 'http://localhost/devices/a/sensors/b');
    expect(routeOf(pathname, [])).toEqual({ view: 'fleet' });
    expect(Object.fromEntries(new URLSearchParams(search))).toEqual({ show: 'devices', name: device });
  },
);

test('Dashboard routes: addresses of the pipeline and of a page of a feature: each opens the view of that name', () => {
  expect(routeOf('/pipeline', [])).toEqual({ view: 'pipeline' });
  expect(routeOf('/some-page', ['some-page'])).toEqual({ view: 'some-page' });
  expect(routeOf('/some-page', [])).toEqual({ view: 'not-found' });
});

test.each([
  '/nowhere',
  '/pipeline/x',
  '/constructor',
  '/devices',
  '/devices/a/sensors',
  '/devices/a/b/c',
  '/devices/%E0%A4%A',
])('Dashboard routes: unknown address %s: the view not-found is opened', (path) =>
  expect(routeOf(path, ['some-page'])).toEqual({ view: 'not-found' }),
);

test('Dashboard address: a filter changes: the query parameter of the filter is set, and empty parameters are removed', () => {
  const place = { path: '/', query: new URLSearchParams('type=pulse&cursor=abc'), trail: [] };
  expect(withQuery(place, { site: 'north & south', cursor: null })).toBe('/?type=pulse&site=north+%26+south');
  expect(withQuery(place, { type: '', cursor: null })).toBe('/');
});

test('API request: parameters that are empty, null or undefined: left out of the query string', () => {
  expect(toQuery({ type: 'pulse', site: null, name: '', limit: 25, cursor: undefined })).toBe(
    '?type=pulse&limit=25',
  );
  expect(toQuery({})).toBe('');
});

test('Event stream address: device or sensor ids with special characters: encoded; no ids: no query', () => {
  expect(addressOf({})).toBe('/api/v1/stream');
  expect(addressOf({ devices: ['a&b'] })).toBe('/api/v1/stream?device=a%26b');
  const [, raw = ''] = addressOf({ sensors: [['a/b', 'c']] }).split('sensor=');
  expect(decodeURIComponent(raw).split('/').map(decodeURIComponent)).toEqual(['a/b', 'c']);
});
