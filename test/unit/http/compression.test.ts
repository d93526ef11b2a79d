import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { compressAnswers, compressEvents, flushCompressed } from '../../../api/http/compression.ts';
import { listening } from '../../support/http/listening.ts';
import { until } from '../../support/until.ts';

const ITEMS = {
  items: Array.from({ length: 500 }, (_, index) => ({ name: `sensor-${index}`, value: index })),
};
const LINES = 'ts,value\n'.repeat(2000);

const app = express();
const router = express.Router();
router.use('/api/v1', compressAnswers());
for (const path of ['latest', 'session']) {
  router.get(`/api/v1/${path}`, (_req, res) => void res.json(ITEMS));
}
router.get('/api/v1/secret', (_req, res) => {
  res.set('Cache-Control', 'no-store, no-transform').json(ITEMS);
});
router.get('/api/v1/small', (_req, res) => void res.json({ items: [] }));
router.get('/api/v1/problem', (_req, res) => {
  res.status(400).type('application/problem+json').send(JSON.stringify(ITEMS));
});
router.get('/api/v1/picture', (_req, res) => void res.type('image/png').send(Buffer.alloc(5000)));
/** For each disconnected client of the stream: true if its compressor was destroyed. */
const closed: boolean[] = [];
router.get('/api/v1/stream', (req, res) => {
  res.set('Content-Type', 'text/event-stream');
  const events = compressEvents(req, res);
  res.flushHeaders();
  events.write(`data: ${JSON.stringify(ITEMS)}\n\n`);
  res.once('close', () => closed.push(events.destroyed));
});
for (const [path, type] of [
  ['csv', 'text/csv; charset=utf-8'],
  ['ndjson', 'application/x-ndjson; charset=utf-8'],
]) {
  // An export that never ends. The client must still receive the first lines.
  router.get(`/api/v1/${path}`, (_req, res) => {
    res.set('Content-Type', type);
    res.write(LINES, 'latin1');
    flushCompressed(res);
  });
}
app.use(router);
const server = createServer(app);
let url = '';

beforeAll(async () => {
  url = `http://127.0.0.1:${await listening(server)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** @param accepted `Accept-Encoding` */
async function open(path: string, accepted?: string, method: string = 'GET'): Promise<IncomingMessage> {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const sent = request(url + path, { method, headers, agent: false });
  sent.end();
  const [response] = await once(sent, 'response');
  return response;
}

async function get(path: string, accepted?: string): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const response = await open(path, accepted);
  const parts = [];
  for await (const part of response) parts.push(part);
  return { headers: response.headers, body: Buffer.concat(parts) };
}

test.each([
  ['br', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
])('Compression: %s accepted: response in %s, equal content', async (accepted, encoding, decompress) => {
  const plain = await get('/api/v1/latest');
  const { headers, body } = await get('/api/v1/latest', accepted);
  expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' });
  expect(decompress(body)).toEqual(plain.body);
  expect(body.length).toBeLessThan(plain.body.length / 3);
});

test.each([undefined, 'identity', 'br;q=0, gzip;q=0', 'nonsense'])(
  'Compression: request with Accept-Encoding %s: the response is not compressed',
  async (accepted) => {
    const { headers, body } = await get('/api/v1/latest', accepted);
    expect(headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(String(body))).toEqual(ITEMS);
  },
);

test.each(['small', 'picture', 'secret', 'session', 'Session/'])(
  'Compression: /api/v1/%s is small, a picture, or with a secret: not compressed',
  async (path) => {
    const { headers } = await get(`/api/v1/${path}`, 'br, gzip');
    expect(headers['content-encoding']).toBeUndefined();
  },
);

test.each([
  ['br, gzip', 'br', () => createBrotliDecompress()],
  ['gzip, deflate, br, zstd', 'br', () => createBrotliDecompress()],
  ['gzip', 'gzip', () => createGunzip()],
  ['br;q=0, gzip', 'gzip', () => createGunzip()],
  ['identity', undefined, () => new PassThrough()],
])(
  'Compression: live stream, client accepts %s: an event arrives at once with encoding %s',
  async (accepted, encoding, createDecoder) => {
    const response = await open('/api/v1/stream', accepted);
    expect(response.headers['content-encoding']).toBe(encoding);
    expect(response.headers['vary']).toContain('Accept-Encoding');
    const decoded = response.pipe(createDecoder());
    let text = '';
    for await (const part of decoded) {
      text += part;
      if (text.endsWith('\n\n')) break;
    }
    expect(text).toBe(`data: ${JSON.stringify(ITEMS)}\n\n`);
    response.destroy();
  },
);

test('Compression: live stream: the client disconnects: its compressor is destroyed', async () => {
  closed.length = 0;
  const response = await open('/api/v1/stream', 'br');
  await once(response, 'data');
  response.destroy();
  await until(() => closed.length === 1, { what: 'the end of the connection' });
  expect(closed).toEqual([true]);
});
