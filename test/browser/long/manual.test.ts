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

// The ranking of the search is tested by test/unit/http/manual-search.test.ts.
test('Manual search: words of a reader: a result leads to the page with the answer', async () => {
  const { page, close } = await browser.open();
  await page.goto(`${system.httpUrl}/docs/`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('#localsearch-input').fill('kuehlhaus');
  await page.locator('.VPLocalSearchBox a.result').first().click();
  await page.locator('main', { hasText: 'kuehlhaus.csv' }).waitFor();
  await close();
});

test('Manual: page of the HTTP API: every route is listed, and a button to try requests is shown', async () => {
  const { page, complaints, close } = await browser.open();
  await page.goto(`${system.httpUrl}/docs/http/`);
  const openApi = await (await fetch(`${system.httpUrl}/openapi.json`)).json();
  const summaries = Object.values<Record<string, { summary: string }>>(openApi.paths).flatMap((path) =>
    Object.values(path).map(({ summary }) => summary),
  );
  await page.getByText(String(summaries[0])).first().waitFor();
  await page
    .getByRole('button', { name: /Test Request/ })
    .first()
    .waitFor();
  for (const text of summaries) await page.locator('#reference', { hasText: text }).waitFor();
  await page.screenshot({ path: screenshot('http') });
  expect(complaints).toEqual([]);
  await close();
});

test.each([1360, 390])('Manual: screen %d pixels wide: nothing is wider than the screen', async (width) => {
  const { page, close } = await browser.open({ viewport: { width, height: 844 } });
  await page.goto(`${system.httpUrl}/docs/reference/http`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.screenshot({ path: screenshot(String(width)) });
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(beyond).toBeLessThanOrEqual(0);
  await close();
});
