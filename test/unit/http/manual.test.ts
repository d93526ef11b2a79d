import { once } from 'node:events';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { BUILD_MARK, createManual } from '../../../api/http/manual.ts';

const LONG = 'A sentence of the manual. '.repeat(200);

let parent = '';
let dir = '';
let server: Server;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'manual-'));
  dir = join(parent, 'docs');
  await mkdir(join(dir, 'assets'), { recursive: true });
  await mkdir(join(parent, 'web'));
  await Promise.all([
    writeFile(join(dir, 'index.html'), `<!doctype html><title>Manual</title><p>${LONG}</p>`),
    writeFile(join(dir, 'assets/app.js'), `// ${LONG}`),
    writeFile(join(dir, 'assets/picture.png'), LONG),
    writeFile(join(parent, 'web/index.html'), `<link rel="stylesheet" crossorigin href="/assets/s.css">`),
  ]);
  const options = { dir, dashboardDir: join(parent, 'web'), clock: () => 100_000 };
  server = express().use(createManual(options)).listen(0);
});
afterAll(async () => {
  server.close();
  await rm(parent, { recursive: true });
});

const get = (path: string, encodings: string) => {
  const { port } = server.address() as AddressInfo;
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
  const { port } = server.address() as AddressInfo;
  // `fetch` would add `Cache-Control: no-cache`, which requests the whole page.
  const headers = { 'Accept-Encoding': 'br', 'If-None-Match': String(first.headers.get('ETag')) };
  const [response] = await once(request({ port, path: '/docs/', headers }).end(), 'response');
  response.resume();
  expect(response.statusCode).toBe(304);
});

test('Manual: a page is missing while npm run dev builds: 503, a page with the time in the look of the dashboard, loaded again', async () => {
  const mark = join(parent, BUILD_MARK);
  await writeFile(mark, String(process.pid));
  await utimes(mark, 93, 93);
  const response = await get('/docs/how-to/missing', 'identity');
  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '2']);
  const page = await response.text();
  for (const part of ['is being built (7 s)', 'http-equiv="refresh"', 'href="/assets/s.css"', 'href="/"'])
    expect(page).toContain(part);
  // The process was killed. No process has a number above the limit of the kernel.
  await writeFile(mark, '99999999');
  const after = await get('/docs/how-to/missing', 'identity');
  expect(after.status).toBe(404);
  expect(await after.text()).toContain('npm run docs:build');
});
