import { beforeAll, expect, test } from '@jest/globals';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useHistorySystem } from '../../support/system/history.ts';

const BEGIN = dayOf(Date.now() - 60 * DAY_MS);
const DEVICES = 30;

const world = useHistorySystem(BEGIN);
const { clock } = world;

const nameOf = (index: number) => `gauge-${String(index).padStart(2, '0')}`;

const raw = (path: string, accept: string = '*/*') =>
  send(world.system.httpUrl, `/api/v1${path}`, { headers: { Accept: accept } });

const lines = (text: string): { sensor: string; value: number }[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

beforeAll(async () => {
  for (let index = 0; index < DEVICES; index++) {
    const sensors = [{ sensor_id: 's', type: 'level', unit: 'm' }];
    await world.device.birth(nameOf(index), { site: index < 10 ? 'North, "old"' : 'South', sensors });
  }
  for (const name of [nameOf(0), nameOf(11)]) {
    await world.lay(
      name,
      [0, 5, 200].map((hour) => ({
        hour: BEGIN + hour * HOUR_MS,
        fate: 'packed',
        samples: [10, 20].map((minute) => [BEGIN + hour * HOUR_MS + minute * 60_000, hour + minute / 100]),
      })),
    );
  }
  clock.now = BEGIN + 20 * DAY_MS;
});

test('GET /latest as NDJSON: several pages of devices: the lines equal the items of the JSON pages', async () => {
  const answer = await raw('/latest?format=ndjson');
  expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  const { items } = await world.system.get('/latest?limit=1000');
  expect(items).toHaveLength(DEVICES);
  expect(lines(answer.text)).toEqual(
    items.map(({ name, ...item }: { name: string }) => ({ ...item, sensor: name })),
  );
});

test('GET /latest as a file: paging parameter or unknown format: refused', async () => {
  expectProblem(await raw('/latest?format=csv&limit=5'), 400, 'bad_parameter');
  expectProblem(await raw('/latest?format=xml'), 400, 'bad_parameter');
});

const at = (hour: number, minute: number) => new Date(BEGIN + hour * HOUR_MS + minute * 60_000).toISOString();

test.each([
  ['before the first sample', at(0, 9), null, null],
  ['at the first sample', at(0, 10), at(0, 10), 0.1],
  ['between two samples', at(0, 15), at(0, 10), 0.1],
  ['days after the last sample of a day', at(190, 0), at(5, 20), 5.2],
  ['after the newest sample', at(400, 0), at(200, 20), 200.2],
])('GET /latest: asof is %s: the value at or before this time', async (_, asof, ts, value) => {
  for (const device of [nameOf(0), nameOf(11)]) {
    const { items } = await world.system.get(`/latest?device=${device}&asof=${asof}`);
    expect(items).toMatchObject([{ device, ts, value }]);
  }
});

test('GET /latest with a relative asof: sensors of all devices: pages and file have the values of that time', async () => {
  const ago = `-${20 * 24 - 1}h`;
  const { items, next } = await world.system.get(`/latest?asof=${ago}&limit=20`);
  const rest = await world.system.get(`/latest?asof=${ago}&limit=20&cursor=${next}`);
  const values = [...items, ...rest.items].filter(({ value }) => value !== null);
  expect(items.length + rest.items.length).toBe(DEVICES);
  expect(values.map(({ device, ts }) => [device, ts]).sort()).toEqual([
    [nameOf(0), at(0, 20)],
    [nameOf(11), at(0, 20)],
  ]);
  const file = lines((await raw(`/latest?asof=${ago}&format=ndjson`)).text);
  expect(file.filter(({ value }) => value === 0.2)).toHaveLength(2);
  expectProblem(await raw(`/latest?asof=-1h&limit=20&cursor=${next}`), 400, 'bad_cursor');
});

test('Device list: NDJSON and CSV: the rows equal the items of the JSON pages', async () => {
  const { items } = await world.system.get('/devices?limit=1000');
  expect(lines((await raw('/devices?format=ndjson')).text)).toEqual(items);
  const [head, ...rows] = (await raw('/devices?site=South&format=csv')).text.trimEnd().split('\n');
  expect(head).toBe('device_id,name,site,state,online,last_seen');
  expect(rows.map((row) => row.split(',').slice(1, 3).join()).sort()).toEqual(
    Array.from({ length: 20 }, (_, index) => `${nameOf(index + 10)},South`),
  );
});

test('Series: CSV and NDJSON: the rows equal the points of the JSON answer', async () => {
  const path = `/devices/${nameOf(0)}/sensors/s/series?from=${BEGIN}&to=${BEGIN + 6 * HOUR_MS}&points=6`;
  const { points } = await world.system.get(path);
  expect(points).toHaveLength(2);
  expect(lines((await raw(`${path}&format=ndjson`)).text)).toEqual(
    points.map(({ ts, min, max, avg, count }: Record<string, unknown>) => ({ ts, min, max, avg, count })),
  );
  const csv = await raw(path, 'text/csv');
  const rows = points.map(({ ts, min, max, avg, count }: Record<string, unknown>) =>
    [ts, min, max, avg, count].join(),
  );
  expect(csv.text).toBe(`ts,min,max,avg,count\n${rows.join('\n')}\n`);
});

test('Measurements of a sensor: no order is given: files are oldest first, pages newest first', async () => {
  const path = `/devices/${nameOf(0)}/sensors/s/measurements`;
  const { items } = await world.system.get(path);
  expect(items[0].value).toBe(200.2);
  expect(lines((await raw(`${path}?format=ndjson`)).text)).toEqual(items.toReversed());
  expect(lines((await raw(`${path}?format=ndjson&order=desc`)).text)).toEqual(items);
});
