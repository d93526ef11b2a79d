import { beforeAll, describe, expect, test } from '@jest/globals';
import { pagesOf } from '../../support/http/pages.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const SITES = ['Oslo', 'São Paulo', '東京'];
const TYPES = ['Temperature', 'Pulse'];
const DEVICES = 12;

/** The published sensors, which pages must show: device, name, type and site of each. */
const FLEET = Array.from({ length: DEVICES }, (_, d) =>
  ['body', 'body/left', 'heart'].map((name, s) => ({
    device: `cow-${d}`,
    name,
    type: TYPES[(d + s) % TYPES.length] as string,
    site: SITES[d % SITES.length] as string,
  })),
).flat();

const system = useTestSystem();
const device = useDevice(system);
beforeAll(async () => {
  for (let d = 0; d < DEVICES; d++) {
    const own = FLEET.filter((sensor) => sensor.device === `cow-${d}`);
    await device.birth(`cow-${d}`, {
      site: own[0]?.site,
      sensors: own.map(({ name, type }) => ({ sensor_id: name, type, unit: '1' })),
    });
  }
});

const names = (sensors: Array<{ device: string; name: string }>) =>
  sensors.map(({ device, name }) => `${device}/${name}`).sort();

const matching = (filter: Record<string, string>) =>
  FLEET.filter((sensor) =>
    Object.entries(filter).every(([key, term]) =>
      key === 'name' ? sensor.name.startsWith(term) : sensor[key as 'type'] === term,
    ),
  );

const FILTERS: Array<Record<string, string>> = [
  {},
  { type: 'Pulse' },
  { site: '東京' },
  { name: 'body' },
  { name: 'body/' },
  { device: 'cow-7' },
  { type: 'Temperature', site: 'São Paulo' },
  { type: 'Pulse', name: 'b' },
  { site: 'Oslo', name: 'heart' },
  { device: 'cow-4', type: 'Pulse' },
  { device: 'cow-4', name: 'body', site: 'São Paulo', type: 'Temperature' },
];

describe.each(FILTERS.map((filter) => ({ filter })))('GET /latest with the filter $filter', ({ filter }) => {
  const expected = names(matching(filter));
  // The limits are 1, a divisor of the count, the count, one less and one more than it, and many more.
  const limits = new Set([1, expected.length / 2, expected.length - 1, expected.length, expected.length + 1]);
  const usable = [...limits].filter((limit) => limit >= 1 && Number.isInteger(limit));

  test.each([...usable, 1000])(
    'Pages of GET /latest: limit %i: each sensor that matches the filter is listed once',
    async (limit) => {
      const pages = await pagesOf(system, `/latest?${new URLSearchParams({ ...filter, limit: `${limit}` })}`);
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
      expect(names(pages.flat())).toEqual(expected);
    },
  );
});

test.each([
  ['of a type', { type: 'Nothing' }],
  ['of a site', { site: 'Nowhere' }],
  ['of a name', { name: 'bodyguard' }],
  ['of a device', { device: 'no-cow' }],
  ['of two that exclude each other', { site: 'Oslo', device: 'cow-1' }],
])('Pages of GET /latest: filter %s matches nothing: an empty page without a cursor', async (_, filter) => {
  expect(await system.get(`/latest?${new URLSearchParams(filter)}`)).toEqual({ items: [], next: null });
});

test('Pages of GET /latest: one of 300 sensors matches: found in at most two pages', async () => {
  const sensors = Array.from({ length: 300 }, (_, s) => ({
    sensor_id: `r${s}`,
    type: s === 299 ? 'Rare' : 'Common',
  }));
  await device.birth('many', { sensors });
  const pages = await pagesOf(system, '/latest?device=many&type=Rare&limit=1');
  expect(pages.flat().map(({ name }) => name)).toEqual(['r299']);
  expect(pages.length).toBeLessThanOrEqual(2);
});

test('Pages of GET /latest: new sensors are registered between pages: each older sensor is listed once', async () => {
  const pages = await pagesOf(system, '/latest?limit=9&name=body', async (page) => {
    const sensors = [{ sensor_id: 'body-late', type: 'Pulse' }];
    await device.birth(`late-${page}`, { sensors });
  });
  const seen = names(pages.flat());
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toEqual(expect.arrayContaining(names(matching({ name: 'body' }))));
});

test('GET /latest: sensor without a sample: the item has names, type, unit and site, and null for ts and value', async () => {
  const [item] = (await system.get('/latest?device=cow-0&name=heart')).items;
  const { device_id } = await system.get('/devices/cow-0');
  const { sensor_id } = await system.get('/devices/cow-0/sensors/heart');
  expect(item).toEqual({
    device_id,
    sensor_id,
    device: 'cow-0',
    name: 'heart',
    type: 'Temperature',
    unit: '1',
    site: 'Oslo',
    ts: null,
    value: null,
  });
});
