import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { createDashboard } from '../../../api/http/dashboard.ts';
import { FEATURES } from '../../../web/features/index.ts';
import { listening } from '../../support/http/listening.ts';

const page = readFileSync(new URL('../../../dist/web/index.html', import.meta.url), 'utf8');
const app = express().set('etag', false).use(createDashboard());
app.use((_request, response) => void response.status(404).send('left to others'));
app.use(
  ((error, _request, response, _next) =>
    void response.status(error.status).send(error.code)) satisfies express.ErrorRequestHandler,
);
const server = createServer(app);
let base = '';

beforeAll(async () => {
  base = `http://127.0.0.1:${await listening(server)}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('Dashboard: scripts and style sheets: served, and brotli is smaller than gzip and plain', async () => {
  const named = [...page.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, href]) => String(href));
  // Files under 1 KiB are not compressed.
  const large = named.filter(
    (href) => statSync(new URL(`../../../dist/web${href}`, import.meta.url)).size >= 1024,
  );
  expect(large.length).toBeGreaterThan(1);
  for (const href of large) {
    const sizes = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (encoding) => {
        const response = await fetch(base + href, { headers: { 'Accept-Encoding': encoding } });
        expect(response.status).toBe(200);
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
        return Number(response.headers.get('content-length'));
      }),
    );
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  }
});

test.each(['/', '/devices/a', '/devices/a%2Fb/sensors/c%20d'])('Dashboard page: %s: 200', async (path) => {
  const response = await fetch(base + path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await response.text()).toBe(page);
});

test('Dashboard page of each feature that the build lists: 200, and 405 for POST; of a feature that it does not list: 404', async () => {
  const pages: string[] = JSON.parse(
    readFileSync(new URL('../../../dist/web/pages.json', import.meta.url), 'utf8'),
  );
  expect(pages).toEqual(FEATURES.flatMap(({ name, page }) => (page ? [name] : [])).sort());
  const html = { headers: { Accept: 'text/html' } };
  for (const name of pages) {
    const response = await fetch(`${base}/${name}`, html);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(page);
    expect((await fetch(`${base}/${name}`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${base}/${name}/more`, html)).status).toBe(404);
  }
  expect((await fetch(`${base}/no-feature`, html)).status).toBe(404);
});

test('Dashboard: Content-Security-Policy: it allows only files of the dashboard and the inline script of the page', async () => {
  const policy = (await fetch(base)).headers.get('content-security-policy') ?? '';
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? [];
  const hash = createHash('sha256').update(script).digest('base64');
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      `script-src 'self' 'sha256-${hash}'`,
      "worker-src 'self'",
      "frame-ancestors 'none'",
    ]),
  );
  expect(policy).not.toContain('unsafe');
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
])('Dashboard: no page at %s: 404', async (path) => expect((await fetch(base + path)).status).toBe(404));

/** The Accept header that Chromium sends when it opens a page. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };

test.each(['/nowhere', '/devices', '/assets/no.js'])(
  'Dashboard: unknown path %s: a browser gets the page with status 404',
  async (path) => {
    const response = await fetch(base + path, { headers: BROWSER });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await response.text()).toBe(page);
  },
);

test.each([
  ['a program that takes anything', 'GET', { Accept: '*/*' }],
  ['a program without an Accept header', 'GET', {}],
  ['a program that reads problems', 'GET', { Accept: 'application/problem+json' }],
  ['another method', 'POST', BROWSER],
])('Dashboard: unknown path, request by %s: left to other routers', async (_, method, headers) => {
  const response = await fetch(`${base}/nowhere`, { method, headers });
  expect([response.status, await response.text()]).toEqual([404, 'left to others']);
});

test('Dashboard: not built yet: 503 names npm run build; after the build: the page is served without a restart', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-web-'));
  const other = createServer(express().use(createDashboard({ dir })));
  try {
    const address = `http://127.0.0.1:${await listening(other)}/`;
    const before = await fetch(address);
    expect([before.status, await before.text()]).toEqual([503, expect.stringContaining('npm run build')]);
    mkdirSync(join(dir, 'assets'));
    writeFileSync(join(dir, 'index.html'), '<script>1</script>');
    writeFileSync(join(dir, 'assets/late.js'), 'late');
    const after = await fetch(address);
    expect([after.status, await after.text()]).toEqual([200, '<script>1</script>']);
    expect(await (await fetch(`${address}assets/late.js`)).text()).toBe('late');
    expect((await fetch(`${address}assets/..%2f/index.html`)).status).toBe(404);
  } finally {
    other.closeAllConnections();
    other.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
