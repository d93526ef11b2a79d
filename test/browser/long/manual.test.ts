import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { startBrowser, type TestBrowser } from '../../support/web/browser.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SCREENSHOTS = new URL('../../../.data/screenshots/', import.meta.url);
const BUILD_MS = 600_000;

let system: TestSystem;
let browser: TestBrowser;
beforeAll(async () => {
  await run('npm', ['run', '-s', 'docs:build'], { cwd: ROOT, maxBuffer: 16 * 1024 ** 2 });
  system = await startTestSystem();
  browser = await startBrowser();
}, BUILD_MS);
afterAll(async () => {
  await browser?.stop();
  await system?.stop();
});

const screenshot = (name: string) => fileURLToPath(new URL(`manual-${name}.png`, SCREENSHOTS));

test('Manual: opened from the dashboard: every page of the sidebar loads, and no request goes to another host', async () => {
  const { page, complaints, close } = await browser.open();
  const origins: Set<string> = new Set();
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  await page.goto(system.httpUrl);
  await page.getByRole('link', { name: 'Manual', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
  await page.screenshot({ path: screenshot('front') });
  const links = await page
    .locator('.VPSidebar a')
    .evaluateAll((anchors) => anchors.map((anchor) => (anchor as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(40);
  for (const link of links) {
    const response = await page.goto(link);
    expect([link, response?.status()]).toEqual([link, 200]);
  }
  expect([...origins]).toEqual([system.httpUrl]);
  expect(complaints).toEqual([]);
  await page.goto(`${system.httpUrl}/docs/how-to/set-an-alarm`);
  await page.getByRole('link', { name: 'Dashboard', exact: true }).click();
  await page.waitForURL(`${system.httpUrl}/`);
  await close();
});

test('Manual: all links of all pages: each leads to a page or a file, and each anchor to a part of it', async () => {
  /** ids in each page; null: it does not exist */
  const idsByPage: Map<string, string[] | null> = new Map();
  const links: [from: string, to: string, anchor: string][] = [];
  const found = new Set([`${system.httpUrl}/docs/`]);
  for (const page of found) {
    const response = await fetch(page);
    const html = await response.text();
    idsByPage.set(page, response.ok ? matchesOf(html, / id="([^"]+)"/g) : null);
    for (const href of matchesOf(html, /<a [^>]*?href="([^"]+)"/g)) {
      const [to = '', anchor = ''] = new URL(href, response.url).href.split('#');
      if (!to.startsWith(`${system.httpUrl}/docs/`)) continue;
      found.add(to);
      links.push([page, to, decodeURIComponent(anchor)]);
    }
  }
  expect(found.size).toBeGreaterThan(60);
  const isDead = ([, to, anchor]: (typeof links)[number]) =>
    !idsByPage.get(to) || (anchor !== '' && !idsByPage.get(to)?.includes(anchor));
  expect(links.filter(isDead)).toEqual([]);
});

const matchesOf = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, match = '']) => match);
