import { beforeAll, describe, expect, test } from '@jest/globals';
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

describe.each(['/latest?', '/devices?', `${RAW}?from=${TS}&`])('Paging limit of %s', (path) => {
  test.each(['0', '1001', '-1', '1e3', 'abc', '', '1.5', '%2B5', ' 5', '0x10', '٣', '99999999999999999999'])(
    'Query parameter limit=%j: forbidden value: answers bad_parameter with the allowed range',
    async (limit) => {
      const problem = expectProblem(await ask(`${path}limit=${encodeURI(limit)}`), 400, 'bad_parameter');
      expect(problem.parameters).toEqual([{ name: 'limit', reason: 'a whole number from 1 to 1000' }]);
    },
  );

  test.each(['1', '1000', '007'])('Query parameter limit=%j: allowed value: answers 200', async (limit) => {
    expect((await ask(`${path}limit=${limit}`)).status).toBe(200);
  });

  test('Query parameter limit=1: given twice: answers bad_parameter', async () => {
    const { parameters } = expectProblem(await ask(`${path}limit=1&limit=1`), 400, 'bad_parameter');
    expect(parameters).toEqual([{ name: 'limit', reason: 'must be given once, as a text' }]);
  });
});

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

describe('Times', () => {
  const iso = new Date(TS).toISOString();
  const offset = `${new Date(TS + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;

  test.each([
    ['milliseconds', `${TS}`],
    ['ISO 8601 in UTC', iso],
    ['ISO 8601 without a zone', iso.slice(0, -1)],
    ['ISO 8601 with an offset', offset],
  ])('Time parameter as %s: from and to are exact to the millisecond', async (_, time) => {
    const from = encodeURIComponent(time);
    expect((await system.get(`${RAW}?from=${from}`)).items).toEqual([{ ts: iso, value: 61 }]);
    expect((await system.get(`${RAW}?to=${from}&from=${TS - 1000}`)).items).toEqual([]);
  });

  test.each(['-1h', '-15m', '-7d', '-3600000ms'])(
    'Time parameter %s: means this time before now',
    async (time) => {
      expect((await system.get(`${RAW}?from=${time}`)).items).toEqual([{ ts: iso, value: 61 }]);
      expect((await system.get(`${RAW}?from=${time}&to=now`)).items).toEqual([{ ts: iso, value: 61 }]);
      expect((await system.get(`${RAW}?to=${time}`)).items).toEqual([]);
    },
  );

  test('Time parameters relative to now: from=now returns no samples; a start after the end answers bad_range', async () => {
    expect((await system.get(`${RAW}?from=now`)).items).toEqual([]);
    expectProblem(await ask(`${RAW}?from=-1h&to=-2h`), 400, 'bad_range');
  });

  test('Time parameters relative to now: the cursor of the first page leads to the next page', async () => {
    const many = Array.from({ length: 3 }, (_, second) => ({ ts: TS - second * 1000, value: second }));
    const device = await connectDevice(system);
    await device.measure(
      'calf',
      many.map((sample) => ({ sensor_id: 'pulse', ...sample })),
    );
    await device.end();
    const path = '/devices/calf/sensors/pulse/measurements?from=-1h&limit=2';
    const first = await system.get(path);
    const second = await system.get(`${path}&cursor=${first.next}`);
    expect([...first.items, ...second.items].map(({ value }) => value)).toEqual([0, 1, 2]);
  });

  test.each([
    'yesterday',
    '',
    '-1w',
    '-h',
    '1h',
    'now-1h',
    '2026-13-01',
    '2026-02-30',
    '21.11.2026',
    '1e12',
    '12.5',
    '99999999999999999',
  ])('Time parameter: invalid value %j: answers bad_parameter', async (time) => {
    expectProblem(await ask(`${RAW}?from=${encodeURIComponent(time)}`), 400, 'bad_parameter');
  });

  test('Time parameter: plus of a UTC offset was decoded as a space: refused, and the detail advises to encode it', async () => {
    const { detail } = expectProblem(await ask(`${RAW}?from=${offset}`), 400, 'bad_parameter');
    expect(detail).toMatch(/%2B/);
  });

  test('Time parameters from and to: a start after the end answers bad_range; equal times return no samples', async () => {
    expectProblem(await ask(`${RAW}?from=${TS}&to=${TS - 1}`), 400, 'bad_range');
    expect(await system.get(`${RAW}?from=${TS}&to=${TS}`)).toEqual({ items: [], next: null });
  });
});
