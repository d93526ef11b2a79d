import { expect, test } from '@jest/globals';
import { identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const ADMIN = 'the token that may draw all plans';
const READER = 'the token that looks at all plans';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><circle r="9"/></svg>';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const LIMIT = 512 * 1024;

const system = useTestSystem({
  settings: { API_TOKEN: ADMIN, READ_TOKENS: READER },
  periods: { assets: 50 },
});

const ask = (
  method: string,
  path: string,
  {
    body,
    type = 'application/json',
    token = ADMIN,
    headers = {},
  }: { body?: string | Buffer; type?: string; token?: string; headers?: Record<string, string> } = {},
) =>
  send(system.httpUrl, `/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }), ...headers },
    ...(body && { body }),
  });

const put = (path: string, body: string | Buffer, type?: string, token?: string) =>
  ask('PUT', path, { body, ...(type && { type }), ...(token && { token }) });

const place = (device: string, sensor: string, x: number = 0.25, y: number = 1) => ({ device, sensor, x, y });

async function createAsset(name: string): Promise<string> {
  const { text } = await ask('POST', '/assets', { body: JSON.stringify({ name }) });
  return `/assets/${JSON.parse(text).asset_id}/plan`;
}

test('Plan of an asset: stored, read and removed: scripts of the SVG are forbidden, and a browser keeps the picture while it is current', async () => {
  const plan = await createAsset('Plant 1');
  expect(JSON.parse((await ask('GET', plan, { token: READER })).text)).toEqual({ picture: null, places: [] });
  expectProblem(await ask('GET', `${plan}/picture`), 404, 'not_found');
  const stored = await put(`${plan}/picture`, SVG, 'image/svg+xml');
  expect(stored.status).toBe(200);
  const { changed_at } = JSON.parse(stored.text).picture;
  const { status, headers, text } = await ask('GET', `${plan}/picture?changed_at=${changed_at}`, {
    token: READER,
  });
  expect([status, text]).toEqual([200, SVG]);
  expect(headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  });
  const policy = String(headers['content-security-policy']);
  expect(policy.split('; ')).toEqual(expect.arrayContaining(["default-src 'none'", 'sandbox']));
  expect(policy).not.toContain('script');
  const known = { headers: { 'if-none-match': String(headers.etag) } };
  expect((await ask('GET', `${plan}/picture`, known)).status).toBe(304);
  await put(`${plan}/picture`, PNG, 'image/png');
  const { status: next, headers: ofPng } = await ask('GET', `${plan}/picture`, known);
  expect([next, ofPng['content-type'], ofPng['content-length']]).toEqual([
    200,
    'image/png',
    String(PNG.length),
  ]);
  expect((await ask('DELETE', `${plan}/picture`)).status).toBe(204);
  expectProblem(await ask('DELETE', `${plan}/picture`), 404, 'not_found');
});

test('Plan of an asset: places of sensors: replaced as a whole, kept with another picture, and gone with the plan', async () => {
  const plan = await createAsset('Plant 2');
  const places = (...all: object[]) => put(`${plan}/places`, JSON.stringify({ places: all }));
  expectProblem(await places(place('pump', 'flow')), 404, 'not_found');
  await put(`${plan}/picture`, PNG, 'image/png');
  expect((await places(place('pump', 'flow'), place('fan', 'speed'))).status).toBe(200);
  const device = String(identifyDevice('pump')?.id);
  const one = { device_id: device, sensor_id: identifySensor(device, 'flow')?.id, x: 0.25, y: 1 };
  expect(JSON.parse((await places(place('pump', 'flow'))).text).places).toEqual([one]);
  await put(`${plan}/picture`, SVG, 'image/svg+xml');
  expect(JSON.parse((await ask('GET', plan)).text)).toMatchObject({
    picture: { type: 'image/svg+xml' },
    places: [one],
  });
  expectProblem(await places(place('pump', 'flow', 1.1)), 400, 'malformed');
  expectProblem(await places(place('pump', 'flow'), place('pump', String(one.sensor_id))), 400, 'malformed');
  expectProblem(await places(place('', 'flow')), 400, 'malformed');
  expectProblem(await places(place('pump\u0007', 'flow')), 400, 'bad_id');
  await ask('DELETE', `${plan}/picture`);
  await put(`${plan}/picture`, PNG, 'image/png');
  expect(JSON.parse((await ask('GET', plan)).text).places).toEqual([]);
});

test('Plan of an asset: a body that is too large, or not what it claims to be: refused', async () => {
  const plan = `${await createAsset('Plant 3')}/picture`;
  expectProblem(await put(plan, PNG, 'image/gif'), 415, 'unknown_format');
  expectProblem(await put(plan, PNG, 'image/jpeg'), 400, 'malformed');
  expectProblem(await put(plan, '<html><script/></html>', 'image/svg+xml'), 400, 'malformed');
  const large = Buffer.concat([PNG, Buffer.alloc(LIMIT - PNG.length)]);
  expect((await put(plan, large, 'image/png')).status).toBe(200);
  expectProblem(await put(plan, Buffer.concat([large, PNG]), 'image/png'), 413, 'too_large');
  expectProblem(await put('/assets/nowhere/plan/picture', PNG, 'image/png'), 404, 'not_found');
});

test('Plan of an asset: a token that may only read: it reads, and changes neither picture nor places', async () => {
  const plan = await createAsset('Plant 4');
  expect((await put(`${plan}/picture`, PNG, 'image/png')).status).toBe(200);
  expect((await ask('GET', `${plan}/picture`, { token: READER })).status).toBe(200);
  expectProblem(await put(`${plan}/picture`, SVG, 'image/svg+xml', READER), 403, 'forbidden');
  expectProblem(await put(`${plan}/places`, '{"places":[]}', 'application/json', READER), 403, 'forbidden');
  expectProblem(await ask('DELETE', `${plan}/picture`, { token: READER }), 403, 'forbidden');
  expect(JSON.parse((await ask('GET', plan)).text).picture.type).toBe('image/png');
});
