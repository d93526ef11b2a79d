import { expect, test } from '@jest/globals';
import { VIEWS } from '../../../../api/http/dashboard.ts';
import { identifyDevice, identifySensor, NS } from '../../../../schema/ids.ts';
import { deviceHref, NAMESPACE, routeOf, sensorHref } from '../../../../web/routes.ts';

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

test('Dashboard routes: address of a page of a feature: it opens the view of that name', () => {
  expect(routeOf('/some-page', ['some-page'])).toEqual({ view: 'some-page' });
  expect(routeOf('/some-page', [])).toEqual({ view: 'not-found' });
});
