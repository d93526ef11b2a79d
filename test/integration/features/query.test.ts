import { beforeAll, expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { identifyDevice } from '../../../schema/ids.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Fate, Sample } from '../../support/history/index.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useHistorySystem } from '../../support/system/history.ts';

const BEGIN = dayOf(Date.now() - 60 * DAY_MS);
const world = useHistorySystem(BEGIN);
const { clock } = world;

const stored: Record<string, Sample[]> = {};

/** Devices with their births, and the hours that each one has. */
const DEVICES: Record<
  string,
  { site: string; type: string; unit: string; hours: Array<[hour: number, Fate, count: number]> }
> = {
  'pump-1': {
    site: 'North',
    type: 'pressure',
    unit: 'bar',
    hours: [
      [0, 'packed', 40],
      [1, 'packed, then late', 30],
      [3, 'late alone', 7],
      [26, 'packed', 12],
    ],
  },
  'pump-2': { site: 'North', type: 'pressure', unit: 'kPa', hours: [[1, 'packed', 20]] },
  oven: {
    site: 'South',
    type: 'temperature',
    unit: 'Cel',
    hours: [
      [2, 'packed', 50],
      [50, 'batches', 9],
      [51, 'batches', 3],
    ],
  },
};

beforeAll(async () => {
  for (const [name, { site, type, unit, hours }] of Object.entries(DEVICES)) {
    clock.now = BEGIN;
    await world.device.birth(name, { site, sensors: [{ sensor_id: 's', type, unit }] });
    stored[name] = await world.lay(
      name,
      hours.map(([index, fate, count]) => {
        const hour = BEGIN + index * HOUR_MS;
        return { hour, fate, samples: scattered(hour, count, index + name.length) };
      }),
    );
  }
  await world.device.birth('silent', { site: 'South', sensors: [{ sensor_id: 's', type: 'pressure' }] });
  clock.now = BEGIN + 5 * DAY_MS;
});

/** @param hour epoch ms @returns in order of time */
const scattered = (hour: number, count: number, seed: number): Sample[] =>
  Array.from({ length: count }, (_, index) => [
    hour + Math.floor((index * HOUR_MS) / count) + ((index * seed) % 900),
    Math.round(1e4 * Math.sin(index * seed + 1)) / 100,
  ]);

const ask = (query: string) => world.system.get(`/query?${query}`);

const raw = (query: string, accept: string = '*/*') =>
  send(world.system.httpUrl, `/api/v1/query?${query}`, { headers: { Accept: accept } });

async function fileOf(query: string, headers: Record<string, string> = {}) {
  const response = await world.system.fetch(`/query?${query}`, { headers });
  expect(response.status).toBe(200);
  return { headers: response.headers, file: await response.arrayBuffer() };
}

const rowsOfArrow = (file: ArrayBuffer) =>
  tableFromIPC(new Uint8Array(file))
    .toArray()
    .map((row) => row.toJSON());

/** @param row of a file @returns as `format=rows` has it */
const asItem = ({ ts, count, ...row }: Record<string, unknown>): Record<string, unknown> => ({
  ts: new Date(Number(ts)).toISOString(),
  ...row,
  ...(count === undefined ? {} : { count: Number(count) }),
});

const range = `from=${BEGIN}&to=${BEGIN + 4 * HOUR_MS}&step=1h`;

test('GET /query: CSV, NDJSON and format=rows: equal rows, without empty bins', async () => {
  const csv = await raw(`site=North&${range}&aggregate=count,max`, 'text/csv');
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(csv.headers['content-disposition']).toContain('query.csv');
  const [head, ...lines] = csv.text.trimEnd().split('\n');
  expect(head).toBe('ts,device,sensor,unit,max,count');
  const { items } = await ask(`site=North&${range}&aggregate=max,count&format=rows`);
  expect(lines).toEqual(items.map((item: object) => Object.values(item).join(',')));
  expect(items.map((item: { device: string; count: number }) => [item.device, item.count])).toEqual([
    ['pump-1', 40],
    ['pump-1', 30],
    ['pump-1', 7],
    ['pump-2', 20],
  ]);
  const ndjson = await raw(`site=North&${range}&aggregate=max,count&format=ndjson`);
  expect(
    ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(items);
});

test.each([
  ['parquet', 'application/vnd.apache.parquet', 'query.parquet'],
  ['arrow', 'application/vnd.apache.arrow.stream', 'query.arrows'],
])('GET /query: file as %s: the rows of format=rows, with nulls', async (format, type, name) => {
  const queries = [
    `site=North&${range}&aggregate=avg,count&fill=null`,
    `${range}&aggregate=max,sum&group=site&fill=previous`,
    'device=oven&from=1990-01-01&to=1991-01-01&step=1h',
  ];
  for (const query of queries) {
    const { items } = await ask(`${query}&format=rows`);
    const { headers, file } = await fileOf(`${query}&format=${format}`);
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      type,
      expect.stringContaining(name),
    ]);
    const rows = format === 'parquet' ? await parquetReadObjects({ file }) : rowsOfArrow(file);
    expect(rows.map((row) => asItem(row))).toEqual(items);
  }
});

test.each([
  ['step=0s', 400, 'bad_parameter'],
  ['step=fortnight', 400, 'bad_parameter'],
  ['step=1h&tz=Europe/Berlin', 400, 'bad_parameter'],
  ['step=day&tz=Mars/Base', 400, 'bad_parameter'],
  ['aggregate=avg,median', 400, 'bad_parameter'],
  ['aggregate=', 400, 'bad_parameter'],
  ['group=site&aggregate=last', 400, 'bad_parameter'],
  ['fill=zero', 400, 'bad_parameter'],
  ['limit=5&format=csv', 400, 'bad_parameter'],
  [`from=${BEGIN + 1}&to=${BEGIN}`, 400, 'bad_range'],
  ['device=nobody', 404, 'not_found'],
  ['device=', 400, 'bad_id'],
  ['sensor=', 400, 'bad_id'],
  ['from=-5d&step=1s', 422, 'query_too_large'],
  ['from=-5d&step=1m&site=North', 200, ''],
  ['from=-20h&step=500ms&device=pump-1&device=pump-2&device=oven', 422, 'query_too_large'],
])('GET /query: %s: answers %i %s', async (query, status, code) => {
  for (const format of ['json', 'csv', 'parquet', 'arrow']) {
    const answer = await raw(query.includes('format') ? query : `${query}&format=${format}`);
    if (status === 200) expect(answer.status).toBe(200);
    else expectProblem(answer, status, code);
    expect('content-disposition' in answer.headers).toBe(status === 200 && format !== 'json');
  }
});

test('GET /query: sensor has a name other than its id: found by name and by id, alone and with a site', async () => {
  const sensors = [{ sensor_id: 'air', name: 'Air temperature' }];
  await world.device.birth('garden', { site: 'Garden', sensors });
  for (const sensor of ['air', 'Air%20temperature']) {
    const found = await ask(`sensor=${sensor}&from=-1h`);
    expect(found.series).toMatchObject([{ device: 'garden', sensor: 'Air temperature' }]);
    expect(await ask(`sensor=${sensor}&site=Garden&from=-1h`)).toEqual(found);
  }
});

test('GET /query: device is given by name and by id: each of its samples is counted once', async () => {
  const rest = `from=${BEGIN}&to=${BEGIN + 52 * HOUR_MS}&group=device&aggregate=count,sum`;
  const found = await ask(`device=pump-1&${rest}`);
  expect(found.series).toMatchObject([{ sensors: 1, count: [stored['pump-1']?.length] }]);
  expect(await ask(`device=pump-1&device=${identifyDevice('pump-1')?.id}&${rest}`)).toEqual(found);
});
