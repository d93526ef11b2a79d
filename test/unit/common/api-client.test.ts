import { createServer, type RequestListener } from 'node:http';
import { expect, test } from '@jest/globals';
import { ApiClient } from '../../../common/api-client.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { listening } from '../../support/http/listening.ts';
import { NO_ENV_FILE } from '../../support/settings.ts';

const TOKEN = 'a-token-of-this-test';

const afterwards = useCleanUps();

/** @returns a client of a server that gives these answers */
async function clientOf(onRequest: RequestListener, lines: string[] = []) {
  const server = createServer(onRequest);
  const url = `http://127.0.0.1:${await listening(server)}/below/`;
  afterwards(() => server.close());
  const config = readSettings({ API_URL: url, API_TOKEN: TOKEN }, { envFile: NO_ENV_FILE });
  return { server, url, client: new ApiClient(config, (text) => lines.push(text)) };
}

test('Client of the API: request: has the token, the query without missing values, and the body as JSON', async () => {
  const { client } = await clientOf(async (req, res) => {
    const { method, url, headers } = req;
    const body = Buffer.concat(await req.toArray()).toString();
    res.end(JSON.stringify([method, url, headers.authorization, headers['content-type'], body]));
  });
  const query = { from: 5, code: undefined, device: 'ä b' };
  expect(await client.call('POST', '/things', { query, body: { a: 1 } })).toEqual([
    'POST',
    '/below/api/v1/things?from=5&device=%C3%A4+b',
    `Bearer ${TOKEN}`,
    'application/json',
    '{"a":1}',
  ]);
});

test('Client of the API: 429: the request is repeated after Retry-After, and the answer 204 has no value', async () => {
  const lines: string[] = [];
  let requests = 0;
  const { client } = await clientOf((_, res) => {
    if (++requests === 1) res.writeHead(429, { 'Retry-After': '1' }).end('{"code":"rate_limited"}');
    else res.writeHead(204).end();
  }, lines);
  const began = performance.now();
  expect(await client.call('DELETE', '/things/1')).toBeUndefined();
  expect(performance.now() - began).toBeGreaterThan(990);
  expect({ requests, lines }).toEqual({
    requests: 2,
    lines: ['The API takes no more requests yet. The next attempt is in 1 s.'],
  });
});

test.each([
  [
    'a problem of the API',
    409,
    '{"code":"too_late","detail":"It is late.","since":7}',
    { code: 'too_late', message: 'It is late.', details: expect.objectContaining({ since: 7 }) },
  ],
  [
    'the page of a proxy',
    502,
    '<h1>Bad\u001b[2J</h1>',
    { code: 'failed', message: 'The API answered 502: <h1>Bad?[2J</h1>' },
  ],
])('Client of the API: answer is %s: the error has its code and text', async (_, status, body, expected) => {
  const { client } = await clientOf((_req, res) => void res.writeHead(status).end(body));
  await expect(client.call('GET', '/things')).rejects.toMatchObject(expected);
});

test('Client of the API: no API listens: the error names the address and the remedy', async () => {
  const { server, client, url } = await clientOf(() => {});
  await new Promise((resolve) => void server.close(resolve));
  await expect(client.call('GET', '/things')).rejects.toMatchObject({
    code: 'failed',
    message: `The API does not answer at ${url.slice(0, -1)}: ECONNREFUSED. Start it with npm run dev or npm start, or set API_URL to its address.`,
  });
});
