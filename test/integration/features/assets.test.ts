import { expect, test } from '@jest/globals';
import { ERRORS } from '../../../common/errors.ts';
import { identifyDevice } from '../../../schema/ids.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const ADMIN = 'the token that may move everything';
const READER = 'the token that reads the whole tree';
const PART = 'the-token-that-administers-one-part';
const HOUR_MS = 3_600_000;

const system = useTestSystem({
  settings: { API_TOKEN: ADMIN, READ_TOKENS: READER, ASSET_TOKENS: `admin ${PART} Quay/East` },
  periods: { assets: 50, assetSites: 20 },
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const ask = (
  method: Method,
  path: string,
  { body, token = ADMIN, type = 'application/json' }: { body?: unknown; token?: string; type?: string } = {},
) =>
  send(system.httpUrl, `/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  });

const read = async (path: string) => JSON.parse((await ask('GET', path, { token: READER })).text);

async function create(body: { name: string; level?: string; parent?: string }) {
  const { status, text } = await ask('POST', '/assets', { body });
  expect({ status, text }).toMatchObject({ status: 201 });
  return JSON.parse(text);
}

const at = (path: string) => encodeURIComponent(path);

const expectRefusal = (answer: Awaited<ReturnType<typeof ask>>, code: keyof typeof ERRORS) =>
  expectProblem(answer, (ERRORS[code] as { status: number }).status, code);

test('Assets over HTTP: created, moved and renamed: read by id and path, now and in the past', async () => {
  const plant = await create({ name: 'Plant 1' });
  const hall = await create({ name: 'Hall 1', parent: 'Plant 1' });
  await create({ name: 'Hall 2', parent: plant.asset_id });
  const press = await create({ name: 'Press', level: 'machine', parent: 'Plant 1/Hall 1' });
  expect(press).toMatchObject({
    path: 'Plant 1/Hall 1/Press',
    level: 'machine',
    parent_id: hall.asset_id,
    ancestors: [
      { name: 'Plant 1', level: 'site' },
      { name: 'Hall 1', level: 'area' },
    ],
  });
  const since = Date.now() - 48 * HOUR_MS;
  const moved = await ask('PUT', `/assets/${at('Plant 1/Hall 1/Press')}/parent`, {
    body: { parent: 'Plant 1/Hall 2', since },
  });
  expect(JSON.parse(moved.text)).toMatchObject({ path: 'Plant 1/Hall 2/Press' });
  const before = `?at=${since - HOUR_MS}`;
  expect((await read(`/assets/${hall.asset_id}/children${before}`)).items).toMatchObject([{ name: 'Press' }]);
  expect((await read(`/assets/${hall.asset_id}/children`)).items).toEqual([]);
  expect(await read(`/assets/${press.asset_id}${before}`)).toMatchObject({ path: 'Plant 1/Hall 1/Press' });
  const renamed = await ask('PATCH', `/assets/${hall.asset_id}`, { body: { name: 'North' } });
  expect(JSON.parse(renamed.text)).toMatchObject({ path: 'Plant 1/North' });
  const first = await read(`/assets/${plant.asset_id}/children?limit=1`);
  expect(first.items).toMatchObject([{ name: 'Hall 2', children: 1 }]);
  const second = await read(`/assets/${plant.asset_id}/children?limit=1&cursor=${first.next}`);
  expect([second.items[0].name, second.next]).toEqual(['North', null]);
});

test('Devices and sensors at assets: placed and removed: listed below the asset, with their places over time', async () => {
  await create({ name: 'Yard' });
  await create({ name: 'Pumps', parent: 'Yard' });
  const { id } = identifyDevice('pump') as { id: string };
  expect((await ask('PUT', '/devices/pump/assets', { body: { asset: 'Yard/Pumps' } })).status).toBe(200);
  const since = new Date(Date.now() - 2 * HOUR_MS).toISOString();
  await ask('PUT', '/devices/pump/assets?sensor=flow', { body: { asset: 'Yard', since } });
  const { items } = await read('/assets/Yard/members');
  expect(items).toMatchObject([
    {
      ...{ device_id: id, device: 'pump', sensor: null, own_sensors: [items[1].sensor_id] },
      ...{ path: 'Yard/Pumps', levels: ['site', 'area'] },
    },
    { device_id: id, sensor: 'flow', path: 'Yard', own_sensors: [] },
  ]);
  expect((await read('/asset-members')).items).toEqual(expect.arrayContaining(items));
  expect(await read('/asset-search?q=PUMPS%20yard')).toMatchObject({
    items: [{ path: 'Yard/Pumps', members: 1 }],
    more: false,
  });
  const first = await read('/assets/Yard/members?limit=1');
  expect((await read(`/assets/Yard/members?limit=1&cursor=${first.next}`)).items).toMatchObject([
    { sensor: 'flow' },
  ]);
  expect((await read(`/assets/Yard/members?at=${Date.now() - 4 * HOUR_MS}`)).items).toHaveLength(1);
  expect((await ask('DELETE', '/devices/pump/assets?sensor=flow')).status).toBe(204);
  expect((await read('/devices/pump/assets')).places).toMatchObject([
    { sensor: null, path: 'Yard/Pumps', from: null, to: null },
    { sensor: 'flow', path: 'Yard', from: `${since.slice(0, 13)}:00:00.000Z`, to: expect.any(String) },
  ]);
});

test('Site in a birth: it is a path: the device is at the asset of this path within moments; its retirement empties the asset', async () => {
  const device = await connectDevice(system);
  await device.birth('fan', { site: 'Mill/Hall 7', sensors: [] });
  await device.end();
  const asset = `/assets/${at('Mill/Hall 7')}`;
  await until(async () => (await read(`${asset}/members`)).items?.length === 1, {
    what: 'the placed device',
  });
  expect(await read(asset)).toMatchObject({ level: 'area', members: 1 });
  expectRefusal(await ask('DELETE', asset), 'asset_in_use');
  expect((await ask('DELETE', '/devices/fan')).status).toBe(204);
  expect((await ask('DELETE', asset)).status).toBe(204);
});

test('Token of ASSET_TOKENS: the device is in its asset, then elsewhere: it posts, reads and moves, then no more', async () => {
  await create({ name: 'Quay' });
  await create({ name: 'East', parent: 'Quay' });
  await create({ name: 'East Two', parent: 'Quay' });
  const asPart = async (method: Method, path: string, body?: unknown) =>
    (await ask(method, path, { body, token: PART })).status;
  const measurement = { sensor_id: 'load', value: 1 };
  expect(await asPart('POST', '/measurements?device=winch', measurement)).toBe(403);
  expect((await ask('PUT', '/devices/winch/assets', { body: { asset: 'Quay/East' } })).status).toBe(200);
  expect(await asPart('POST', '/measurements?device=winch', measurement)).toBe(200);
  expect(await asPart('GET', '/devices/winch/sensors/load/measurements')).toBe(200);
  expect(await asPart('GET', '/assets/Quay')).toBe(403);
  expect(await asPart('GET', `/assets/${at('Quay/East Two')}`)).toBe(403);
  expect(await asPart('POST', '/assets', { name: 'Crane', parent: 'Quay/East' })).toBe(201);
  expect(await asPart('PUT', '/devices/winch/assets', { asset: 'Quay/East/Crane' })).toBe(200);
  expect((await ask('PUT', '/devices/winch/assets', { body: { asset: 'Quay/East Two' } })).status).toBe(200);
  expect(await asPart('GET', '/devices/winch/sensors/load/measurements')).toBe(403);
});

test('Query by assets: a device moved: its samples count at each asset for the hours in which it was there', async () => {
  await create({ name: 'Brewery' });
  for (const name of ['Cellar', 'Loft']) await create({ name, level: 'area', parent: 'Brewery' });
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const samples = [3, 2, 1].map((hours) => ({ sensor_id: 'heat', ts: hour - hours * HOUR_MS, value: hours }));
  const put = (asset: string, since?: number) =>
    ask('PUT', '/devices/kettle/assets', { body: { asset, since } });
  await put('Brewery/Cellar');
  expect((await ask('POST', '/measurements?device=kettle', { body: samples })).status).toBe(200);
  expect((await put('Brewery/Loft', hour - HOUR_MS)).status).toBe(200);
  const query = async (parameters: string) =>
    (await read(`/query?from=-5h&aggregate=count,sum&${parameters}`)).series;
  expect(await query(`asset=${at('Brewery/Cellar')}`)).toMatchObject([
    { device: 'kettle', sensor: 'heat', count: [2], sum: [5] },
  ]);
  expect(await query('asset=Brewery&group_level=area')).toMatchObject([
    { place: 'Brewery/Cellar', sensors: 1, count: [2], sum: [5] },
    { place: 'Brewery/Loft', sensors: 1, count: [1], sum: [1] },
  ]);
  expect(await query('asset=Brewery&group_level=line')).toMatchObject([{ place: null, count: [3] }]);
  expect(await query('device=kettle&group_level=site&format=json')).toMatchObject([{ place: 'Brewery' }]);
  const csv = await ask('GET', '/query?from=-5h&asset=Brewery&group_level=area&format=csv', {
    token: READER,
  });
  expect(csv.text.split('\n').slice(0, 2)).toEqual([
    'ts,place,unit,avg',
    expect.stringMatching(/^20.*Z,Brewery\/Cellar,,2.5$/),
  ]);
  expectRefusal(await ask('GET', '/query?asset=Nowhere'), 'not_found');
  expectRefusal(await ask('GET', '/query?group_level=floor'), 'bad_parameter');
  expectRefusal(await ask('GET', '/query?group_level=area&group=site'), 'bad_parameter');
  expect((await ask('GET', '/query?asset=Brewery', { token: PART })).status).toBe(403);
  expect((await ask('GET', `/query?asset=${at('Quay/East')}`, { token: PART })).status).toBe(200);
});

test('Tree as CSV: dry run, import, repeated import: only the first import changes the tree, and the export has it', async () => {
  const file = [
    'path,level,device,sensor',
    'Dock,site,,',
    'Dock/Crane 1,machine,,',
    'Dock/Crane 1,,crane,',
    'Dock/Crane 2 ,machine, crane,load',
    'Dock/Crane 2/Motor,site,,',
  ].join('\n');
  const post = async (query = '') =>
    JSON.parse((await ask('POST', `/asset-tree${query}`, { body: file, type: 'text/csv' })).text);
  const counts = { created: 2, placed: 2, unchanged: 0, refused: 1 };
  expect(await post('?dry_run=true')).toMatchObject({ dry_run: true, ...counts });
  expectRefusal(await ask('GET', '/assets/Dock'), 'not_found');
  const report = await post();
  expect(report).toMatchObject({ dry_run: false, ...counts });
  expect(report.lines.at(-1)).toMatchObject({ line: 6, outcome: 'refused', code: 'asset_level' });
  expect(await post()).toMatchObject({ created: 0, placed: 0, unchanged: 4, refused: 1 });
  const { text } = await ask('GET', '/asset-tree', { token: READER });
  const lines = text.split('\n').filter((line) => line.startsWith('Dock'));
  expect(lines).toEqual([
    'Dock,site,,',
    'Dock/Crane 1,machine,,',
    'Dock/Crane 1,,crane,',
    'Dock/Crane 2,machine,,',
    'Dock/Crane 2,,crane,load',
  ]);
});
