import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { createManual } from '../../../api/http/manual.js';

/** @import { Server } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

const LONG = 'A sentence of the manual. '.repeat(200);

let dir = '';
/** @type {Server} */
let server;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'manual-'));
  await mkdir(join(dir, 'assets'));
  await Promise.all([
    writeFile(join(dir, 'index.html'), `<!doctype html><title>Manual</title><p>${LONG}</p>`),
    writeFile(join(dir, 'assets/app.js'), `// ${LONG}`),
    writeFile(join(dir, 'assets/picture.png'), LONG),
  ]);
  server = express().use(createManual({ dir })).listen(0);
});
afterAll(async () => {
  server.close();
  await rm(dir, { recursive: true });
});

/** @param {string} path @param {string} encodings */
const get = (path, encodings) => {
  const { port } = /** @type {AddressInfo} */ (server.address());
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'Accept-Encoding': encodings } });
};

test.each([
  ['/docs/', 'br', 'br'],
  ['/docs/', 'gzip', 'gzip'],
  ['/docs/', 'identity', null],
  ['/docs/assets/app.js', 'br', 'br'],
  ['/docs/assets/picture.png', 'br', null],
])('Manual: GET %s with Accept-Encoding %s: Content-Encoding is %s', async (path, encodings, expected) => {
  const response = await get(path, encodings);
  expect([response.status, response.headers.get('Content-Encoding')]).toEqual([200, expected]);
  expect(await response.text()).toContain(LONG);
});

test('Manual: unchanged page is requested again with its ETag, client accepts brotli: 304', async () => {
  const first = await get('/docs/', 'br');
  const { port } = /** @type {AddressInfo} */ (server.address());
  // `fetch` would add `Cache-Control: no-cache`, which requests the whole page.
  const headers = { 'Accept-Encoding': 'br', 'If-None-Match': String(first.headers.get('ETag')) };
  const [response] = await once(request({ port, path: '/docs/', headers }).end(), 'response');
  response.resume();
  expect(response.statusCode).toBe(304);
});
