import { beforeAll, expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useTestSystem } from '../../support/system/use.ts';

const TS = Date.now() - 1000;

const system = useTestSystem();
beforeAll(async () => {
  const device = await connectDevice(system);
  await device.measure('cow', [{ sensor_id: 'pulse', ts: TS, value: 61 }]);
  await device.end();
});

/** @param path below /api/v1, as sent */
const ask = (path: string) => send(system.httpUrl, `/api/v1${path}`);

const RAW = '/devices/cow/sensors/pulse/measurements';

const SERIES = '/devices/cow/sensors/pulse/series';

const NUMBERS = [
  ...['/latest?', '/devices?', `${RAW}?from=${TS}&`].map((path) => ({
    path: `${path}limit=`,
    name: 'limit',
    reason: 'a whole number from 1 to 1000',
    allowed: ['1', '1000', '007'],
    forbidden: ['0', '1001', '-1', '1e3', 'abc', '', '1.5', '+5', ' 5', '0x10', '٣', '99999999999999999999'],
  })),
  {
    path: `${SERIES}?points=`,
    name: 'points',
    reason: 'a whole number from 1 to 2000',
    allowed: ['1', '2000'],
    forbidden: ['0', '2001', '1000000000', '1e9', '-1', '1.5', '', 'all'],
  },
  {
    path: `${SERIES}?utc_offset=`,
    name: 'utc_offset',
    reason: 'a whole number of minutes from -1439 to 1439',
    allowed: ['1439', '-1439'],
    forbidden: ['', '1440', '-1440', '+60', '1.5', 'x'],
  },
];

test.each(NUMBERS)(
  'Query parameter $name of $path: forbidden value: bad_parameter with the allowed range; other values: 200',
  async ({ path, name, reason, allowed, forbidden }) => {
    for (const value of forbidden) {
      const answer = await ask(path + encodeURIComponent(value));
      expect(expectProblem(answer, 400, 'bad_parameter').parameters).toEqual([{ name, reason }]);
    }
    for (const value of allowed) expect((await ask(path + value)).status).toBe(200);
    const { parameters } = expectProblem(await ask(`${path}1&${name}=1`), 400, 'bad_parameter');
    expect(parameters).toEqual([{ name, reason: 'must be given once, as a text' }]);
  },
);

test.each(['a%00b', '%0a', '%7f', '%c2%85', 'x'.repeat(129), encodeURIComponent(`${'é'.repeat(64)}x`)])(
  'Device or sensor name in a path or filter: invalid name %s: answers 400 with the allowed length',
  async (name) => {
    for (const path of [
      `/devices/${name}`,
      `/devices/cow/sensors/${name}`,
      `/devices/${name}/sensors/pulse/measurements`,
      `/devices/cow/sensors/${name}/series`,
      `/devices/${name}/events`,
      `/latest?device=${name}`,
      `/stream?device=${name}`,
      `/stream?sensor=cow/${name}`,
    ]) {
      expect(expectProblem(await ask(path), 400, 'bad_id').detail).toMatch(/1 to 128 bytes/);
    }
    for (const filter of ['type', 'site', 'name']) {
      const { parameters } = expectProblem(await ask(`/latest?${filter}=${name}`), 400, 'bad_parameter');
      expect(parameters).toEqual([{ name: filter, reason: expect.stringMatching(/1 to 128 bytes/) }]);
    }
  },
);

test('Query parameters: several are wrong: the answer lists each wrong parameter', async () => {
  const { parameters, detail } = expectProblem(
    await ask(`${RAW}?limit=0&order=up&from=yesterday&color=red`),
    400,
    'bad_parameter',
  );
  const names = parameters.map(({ name }: { name: string }) => name).sort();
  expect(names).toEqual(['color', 'from', 'limit', 'order']);
  for (const name of names) expect(detail).toContain(name);
});

test.each([
  '/latest?sort=name',
  '/pipeline/recent?from=0',
  '/latest?Limit=5',
  '/latest?__proto__=1',
  '/latest?constructor=1',
  '/devices?device=cow',
  '/devices?state=asleep',
  '/devices?name=',
  '/devices?state=online&state=online',
  '/devices/cow?limit=1',
  '/devices/cow/sensors/pulse?from=1',
  `${RAW}?points=5`,
  `${RAW}?order=ASC`,
  '/latest?type=',
  `/latest?type=${'x'.repeat(129)}`,
  '/latest?site=a%00b',
  '/latest?name=%ff',
  '/latest?type=%zz',
])('Query parameter is unknown or wrong: GET %s: answers bad_parameter', async (path) => {
  expectProblem(await ask(path), 400, 'bad_parameter');
});

const iso = new Date(TS).toISOString();
const offset = `${new Date(TS + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;

test.each(['-1h', '-15m', '-7d', '-3600000ms'])('Time parameter: %s: this long before now', async (time) => {
  expect((await system.get(`${RAW}?from=${time}`)).items).toEqual([{ ts: iso, value: 61 }]);
  expect((await system.get(`${RAW}?from=${time}&to=now`)).items).toEqual([{ ts: iso, value: 61 }]);
  expect((await system.get(`${RAW}?to=${time}`)).items).toEqual([]);
});

test('Time parameter: plus of a UTC offset was decoded as a space: refused, and the detail advises to encode it', async () => {
  const { detail } = expectProblem(await ask(`${RAW}?from=${offset}`), 400, 'bad_parameter');
  expect(detail).toMatch(/%2B/);
});

test('Time parameters from and to: start after end: bad_range; equal times: no samples', async () => {
  expectProblem(await ask(`${RAW}?from=${TS}&to=${TS - 1}`), 400, 'bad_range');
  expect(await system.get(`${RAW}?from=${TS}&to=${TS}`)).toEqual({ items: [], next: null });
});
