import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { createAssets, createStatic } from '../../../api/http/static.js';

/** @import { AddressInfo } from 'node:net' */

const page = readFileSync(new URL('../../../web/index.html', import.meta.url), 'utf8');
const app = express().disable('etag').use(createStatic());
app.use((_request, response) => void response.status(404).send('left to others'));
app.use(
  /** @type {express.ErrorRequestHandler} */
  (error, _request, response, _next) => void response.status(error.status).send(error.code),
);
const server = createServer(app);
let base = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const PRELOAD = / *<link rel="modulepreload" href="([^"]+)" \/>\n/g;

/** A page as it was written. @param {string} text */
const withoutPreloads = (text) => text.replaceAll(PRELOAD, '');

test('Page: preloads every module once, and all exist', async () => {
  const named = [...(await (await fetch(`${base}/`)).text()).matchAll(PRELOAD)].map(([, href]) =>
    String(href),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(new Set(named).size).toBe(named.length);
  const answers = await Promise.all(named.map((href) => fetch(base + href)));
  expect(answers.filter(({ status }) => status !== 200).map(({ url }) => url)).toEqual([]);
});

test.each(['/', '/devices/a', '/devices/a%2Fb/sensors/c%20d'])('Page %s: the dashboard', async (path) => {
  const response = await fetch(base + path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(withoutPreloads(await response.text())).toBe(page);
});

test('Policy: only own files and the import map run', async () => {
  const policy = (await fetch(base)).headers.get('content-security-policy') ?? '';
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  const hash = createHash('sha256').update(importMap).digest('base64');
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      `script-src 'self' 'sha256-${hash}'`,
      "frame-ancestors 'none'",
    ]),
  );
  expect(policy).not.toContain('unsafe');
});

describe('Files of the pages', () => {
  const named = [...page.matchAll(/"(\/(?:assets|vendor)\/[^"]+)"/g)].map(([, path]) => String(path));

  test.each([...new Set(named)])('%s: served, with 304 while unchanged', async (path) => {
    const response = await fetch(base + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = response.headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    const again = await fetch(base + path, { headers: { 'If-None-Match': etag, 'Cache-Control': '' } });
    expect(again.status).toBe(304);
  });
});

test.each([
  '/api/v1/latest',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/asyncapi.json',
  '/vendor/express.js',
  '/assets/no.js',
  '/assets/../package.json',
])('Path %s: left to other routers', async (path) => expect((await fetch(base + path)).status).toBe(404));

/** What Chromium sends for a page that is opened. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };

test.each(['/nowhere', '/devices', '/assets/no.js'])(
  'Path %s: the dashboard with 404 for a browser',
  async (path) => {
    const response = await fetch(base + path, { headers: BROWSER });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(withoutPreloads(await response.text())).toBe(page);
  },
);

test.each([
  ['a program that takes anything', 'GET', { Accept: '*/*' }],
  ['a program without an Accept header', 'GET', {}],
  ['a program that reads problems', 'GET', { Accept: 'application/problem+json' }],
  ['another method', 'POST', BROWSER],
])('Unknown path: %s: left to other routers', async (_, method, headers) => {
  const response = await fetch(`${base}/nowhere`, { method, headers });
  expect([response.status, await response.text()]).toEqual([404, 'left to others']);
});

test('Path /favicon.ico: redirects to the icon', async () => {
  const response = await fetch(`${base}/favicon.ico`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
});

test('View: another method: 405', async () => {
  const response = await fetch(base, { method: 'POST' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('Assets: an edited file: sent again; a removed one: left to other routers', async () => {
  const webDir = `${mkdtempSync(join(tmpdir(), 'millrace-web-'))}/`;
  const file = join(webDir, 'a.js');
  try {
    writeFileSync(file, 'first');
    const assets = createAssets(webDir);
    expect(String(assets.get('a.js')?.body)).toBe('first');
    writeFileSync(file, 'second');
    utimesSync(file, 1, 1);
    expect(String(assets.get('a.js')?.body)).toBe('second');
    rmSync(file);
    expect(assets.get('a.js')).toBeNull();
    expect(assets.get('../package.json')).toBeNull();
  } finally {
    rmSync(webDir, { recursive: true, force: true });
  }
});
