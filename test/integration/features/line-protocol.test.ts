import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { send } from '../../support/http/index.ts';
import { readSeries } from '../../support/metrics.ts';
import { useTestSystem } from '../../support/system/use.ts';

const TS = Date.now() - 60_000;
const TOKEN = 'a token for ingest alone';

const system = useTestSystem({
  settings: { MAX_MESSAGE_BYTES: '100000', API_TOKEN: 'the token for everything', INGEST_TOKENS: TOKEN },
});

async function write(
  address: string,
  body: string | Buffer,
  headers: Record<string, string> = { authorization: `Token ${TOKEN}` },
) {
  const answer = await send(system.httpUrl, address, { method: 'POST', body, headers });
  return { ...answer, problem: answer.text === '' ? null : JSON.parse(answer.text) };
}

async function read(address: string) {
  const headers = { authorization: 'Bearer the token for everything' };
  return JSON.parse((await send(system.httpUrl, `/api/v1${address}`, { headers })).text);
}

async function latest(device: string): Promise<Record<string, number>> {
  const { sensors } = await read(`/devices/${device}`);
  return Object.fromEntries(sensors.map(({ name, value }: { name: string; value: number }) => [name, value]));
}

async function metric(name: string) {
  const headers = { authorization: 'Bearer the token for everything' };
  const { text } = await send(system.httpUrl, '/metrics', { headers });
  return readSeries(text, name);
}

test('Line protocol over HTTP: InfluxDB 2 write: answers 204 after the commit, and values of several devices are stored', async () => {
  const lines = `press,device=p1,line=3 temperature=21.5,running=true,count=7i,state="on" ${TS}000000\noven,host=o1 heat=4u ${TS}000000\n`;
  const answer = await write('/api/v2/write?org=o&bucket=b&precision=ns', lines);
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(await latest('p1')).toEqual({
    'press.temperature{line=3}': 21.5,
    'press.running{line=3}': 1,
    'press.count{line=3}': 7,
  });
  expect(await latest('o1')).toEqual({ 'oven.heat': 4 });
  expect((await read(`/devices/o1/sensors/oven.heat/measurements`)).items).toEqual([
    { ts: new Date(TS).toISOString(), value: 4 },
  ]);
});

test.each([
  ['u=anybody', 'p', {}],
  ['db=x&rp=y&consistency=one', 'Basic', { authorization: `Basic ${btoa(`u:${TOKEN}`)}` }],
  ['db=x', 'Token', { authorization: `Token ${TOKEN}` }],
  ['db=x', 'Bearer', { authorization: `Bearer ${TOKEN}` }],
])('Line protocol over HTTP: InfluxDB 1 write with %s, token by %s: stored', async (query, by, headers) => {
  const token = by === 'p' ? `&p=${encodeURIComponent(TOKEN)}` : '';
  const answer = await write(
    `/write?precision=s&${query}${token}`,
    `m,device=v1-${by} v=1 ${Math.floor(TS / 1000)}`,
    headers,
  );
  expect(answer.status).toBe(204);
  expect(await latest(`v1-${by}`)).toEqual({ 'm.v': 1 });
});

test('Line protocol over HTTP: body is compressed with gzip: its values are stored', async () => {
  const headers = { authorization: `Token ${TOKEN}`, 'content-encoding': 'gzip' };
  expect((await write('/api/v2/write', gzipSync('m,device=zipped v=5'), headers)).status).toBe(204);
  expect(await latest('zipped')).toEqual({ 'm.v': 5 });
});

test('Line protocol over HTTP: some lines are invalid: the answer has their numbers and rules; valid lines are stored', async () => {
  const counts = async () => [
    await metric('iot_ingest_lines_total{result="stored"}'),
    await metric('iot_ingest_lines_total{result="refused"}'),
  ];
  const [stored = 0, refused = 0] = await counts();
  const lines = [
    'm,device=mixed a=1',
    'm,device=mixed a=howdy',
    `m,device=mixed b=2,c=3 ${TS}`,
    `m,device=${'x'.repeat(129)} a=1`,
    `m,device=mixed ${'y'.repeat(129)}=1,d=4`,
    'm,device=mixed e=5',
  ];
  const { status, problem } = await write('/api/v2/write', lines.join('\n'));
  expect(status).toBe(400);
  expect(problem).toMatchObject({ code: 'lines_refused', accepted: 3, lines: [2, 3, 4, 5] });
  expect(problem.refused.map(({ line, code }: { line: string; code: string }) => [line, code])).toEqual([
    [2, 'malformed'],
    [3, 'too_old'],
    [4, 'bad_id'],
    [5, 'bad_id'],
  ]);
  expect(problem.message).toBe(problem.detail);
  expect(problem.message).toMatch(
    /^4 lines were refused, and all others are stored\. line 2: must have a value .*Refused: 2, 3, 4, 5$/,
  );
  expect(await latest('mixed')).toEqual({ 'm.a': 1, 'm.d': 4, 'm.e': 5 });
  expect(await counts()).toEqual([stored + 2, refused + 4]);
});

test.each([
  ['no token', {}, 401, 'unauthorized'],
  ['a wrong token', { authorization: 'Token wrong' }, 401, 'unauthorized'],
  [
    'a coding that is not known',
    { 'content-encoding': 'compress', authorization: `Token ${TOKEN}` },
    415,
    'unknown_format',
  ],
  ['no gzip', { 'content-encoding': 'gzip', authorization: `Token ${TOKEN}` }, 400, 'malformed'],
])('Line protocol over HTTP: %s, headers %j: answers %i %s', async (_, headers, status, code) => {
  const answer = await write('/api/v2/write', 'm,device=never v=1', headers as never);
  expect([answer.status, answer.problem.code]).toEqual([status, code]);
});

test('Line protocol over HTTP: token in the URL of another route than /write: answers 401', async () => {
  const query = `p=${encodeURIComponent(TOKEN)}`;
  expect((await write(`/api/v2/write?${query}`, 'm v=1', {})).status).toBe(401);
  expect((await write(`/api/v1/measurements?device=d&${query}`, '{}', {})).status).toBe(401);
});

test('Line protocol over HTTP: body exceeds MAX_MESSAGE_BYTES, plain or compressed: answers 413, so that Telegraf sends smaller batches', async () => {
  const lines = 'm,device=large v=1\n'.repeat(10_000);
  expect((await write('/api/v2/write', lines)).status).toBe(413);
  const headers = { authorization: `Token ${TOKEN}`, 'content-encoding': 'gzip' };
  const { status, problem } = await write('/api/v2/write', gzipSync(lines), headers);
  expect([status, problem.code]).toEqual([413, 'too_large']);
});

test('Line protocol over HTTP: GET /ping: answers 204 with a version', async () => {
  const { status, headers } = await send(system.httpUrl, '/ping');
  expect([status, headers['x-influxdb-version']]).toEqual([204, expect.stringMatching(/^Millrace /)]);
});

test('Line protocol over HTTP: GET /health: answers with status pass', async () => {
  const { status, text } = await send(system.httpUrl, '/health');
  expect([status, JSON.parse(text)]).toMatchObject([200, { name: 'millrace', status: 'pass' }]);
});
