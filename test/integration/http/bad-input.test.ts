import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useTestSystem } from '../../support/system/use.ts';

const TS = Date.now() - 60_000;
const DAY = 86_400_000;

const system = useTestSystem();
beforeAll(async () => {
  const device = await connectDevice(system);
  for (const name of ['cow', 'goat']) {
    await device.birth(name, { name, site: 'farm', sensors: [{ sensor_id: 'pulse', type: 'pulse' }] });
    for (const sensor_id of ['pulse', 'breath']) {
      const samples = [0, 1, 2].map((value) => ({ sensor_id, ts: TS + value * 1000, value }));
      await device.measure(name, samples);
    }
    await device.publish(`iot/v1/${name}/measurements`, 'no JSON');
    await device.publish(`iot/v1/${name}/measurements`, 'nor this');
  }
  await device.end();
});

/** @param path below /api/v1, as sent */
const ask = (path: string, headers?: Record<string, string>) =>
  send(system.httpUrl, `/api/v1${path}`, { headers });

const RAW = '/devices/cow/sensors/pulse/measurements';
const SERIES = '/devices/cow/sensors/pulse/series';

const sum = (total: number, count: number) => total + count;

test.each(['0', '2001', '1000000000', '1e9', '-1', '1.5', '', 'all'])(
  'GET series: points=%s: answers 400, with the allowed range of points',
  async (points) => {
    const { parameters } = expectProblem(await ask(`${SERIES}?points=${points}`), 400, 'bad_parameter');
    expect(parameters).toEqual([{ name: 'points', reason: 'a whole number from 1 to 2000' }]);
  },
);

test.each(['', '1440', '-1440', '+60', '1.5', 'x'])(
  'GET series: utc_offset=%s: answers 400, with the allowed range of utc_offset',
  async (offset) => {
    const answer = await ask(`${SERIES}?utc_offset=${encodeURIComponent(offset)}`);
    const { parameters } = expectProblem(answer, 400, 'bad_parameter');
    expect(parameters).toEqual([
      { name: 'utc_offset', reason: 'a whole number of minutes from -1439 to 1439' },
    ]);
  },
);

describe('Invalid names', () => {
  const LONG = encodeURIComponent(`${'é'.repeat(64)}x`);
  const BAD = ['a%00b', '%0a', '%7f', '%c2%85', 'x'.repeat(129), LONG];

  test.each(BAD)(
    'Device or sensor name in an API path: invalid name %s: answers 400 with the allowed length',
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
        const { detail } = expectProblem(await ask(path), 400, 'bad_id');
        expect(detail).toMatch(/1 to 128 bytes/);
      }
      for (const filter of ['type', 'site', 'name']) {
        const { parameters } = expectProblem(await ask(`/latest?${filter}=${name}`), 400, 'bad_parameter');
        expect(parameters).toEqual([{ name: filter, reason: expect.stringMatching(/1 to 128 bytes/) }]);
      }
    },
  );

  test('Device name in an API path: 128 bytes long: accepted as a name, and answers 404 for the unknown device', async () => {
    expectProblem(await ask(`/devices/${encodeURIComponent('é'.repeat(64))}`), 404, 'not_found');
  });
});

describe('Invalid cursors', () => {
  async function cursorOf(path: string): Promise<string> {
    const { next } = await system.get(path);
    expect(next).toEqual(expect.any(String));
    return next;
  }

  const LISTINGS = [
    `${RAW}?limit=1`,
    '/devices/goat/sensors/pulse/measurements?limit=1',
    '/devices/cow/sensors/breath/measurements?limit=1',
    `${RAW}?limit=1&order=asc`,
    '/latest?limit=1',
    '/latest?limit=1&device=cow',
    '/latest?limit=1&device=goat',
    '/latest?limit=1&type=pulse',
    '/devices?limit=1',
    '/devices?limit=1&site=farm',
    '/dead-letters?limit=1',
  ];

  test.each(LISTINGS)(
    'Paging cursor of %s: used on any other listing: answers 400 bad_cursor',
    async (path) => {
      const cursor = await cursorOf(path);
      for (const other of LISTINGS) {
        const answer = await ask(`${other}&cursor=${cursor}`);
        if (other === path) expect(answer.status).toBe(200);
        else expect(expectProblem(answer, 400, 'bad_cursor').detail).toMatch(/start again without a cursor/);
      }
    },
  );

  test.each(['', 'x', 'null', '%00', 'AAAA'.repeat(1000)])(
    'Paging cursor: invalid value %j: answers 400 bad_cursor',
    async (cursor) => {
      for (const path of LISTINGS) expectProblem(await ask(`${path}&cursor=${cursor}`), 400, 'bad_cursor');
    },
  );
});

describe('Ranges', () => {
  const RANGED = [RAW, SERIES, '/devices/cow/events', '/dead-letters', '/dead-letters/summary'];

  test.each(RANGED)('GET %s: range with from after to: answers 400 bad_range', async (path) => {
    const { detail } = expectProblem(await ask(`${path}?from=${TS}&to=${TS - 1}`), 400, 'bad_range');
    expect(detail).toMatch(/half-open/);
  });

  test.each(RANGED)('GET %s: range is empty or has no data: the answer has no items', async (path) => {
    const empty = [
      [TS + 1000, TS + 1000],
      [TS - 30 * DAY, TS - 20 * DAY],
      [0, 1],
      [TS + 100 * DAY, TS + 200 * DAY],
      [-8.64e15, -8.64e15],
      [8.64e15, 8.64e15],
    ];
    for (const [from, to] of empty) {
      const { items, points } = await system.get(`${path}?from=${from}&to=${to}`);
      expect(items ?? points).toEqual([]);
    }
  });

  test('Time range of a thousand years: measurements, series, events and dead letters: every stored item is returned', async () => {
    const range = 'from=1500-01-01T00:00:00Z&to=2500-01-01T00:00:00Z';
    for (const order of ['asc', 'desc']) {
      const { items, next } = await system.get(`${RAW}?${range}&order=${order}`);
      const values = items.map((item: Record<string, unknown>) => item.value);
      expect([values, next]).toEqual([order === 'asc' ? [0, 1, 2] : [2, 1, 0], null]);
    }
    const { points } = await system.get(`${SERIES}?${range}`);
    const counts = points.map((point: Record<string, unknown>) => point.count);
    expect(counts.reduce(sum)).toBe(3);
    expect(await system.all(`/devices/cow/events?${range}`)).toHaveLength(1);
    expect(await system.all(`/dead-letters?${range}`)).toHaveLength(4);
    const summary = await system.get(`/dead-letters/summary?${range}`);
    const hourCounts = summary.items.map((item: Record<string, unknown>) => item.dead_letters);
    expect(hourCounts.reduce(sum)).toBe(4);
  });
});

test.each([
  '/latest',
  '/devices',
  '/devices/cow',
  '/devices/cow/sensors/pulse',
  RAW,
  SERIES,
  '/dead-letters',
])('GET %s: Accept allows only images: answers 406', async (path) => {
  const { detail } = expectProblem(await ask(path, { accept: 'image/webp' }), 406, 'not_acceptable');
  expect(detail).toMatch(/application\/json/);
});
