import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBrowser } from '../support/browser.js';
import { startTestSystem } from '../support/system.js';

/** @import { TestBrowser } from '../support/browser.js' */
/** @import { TestSystem } from '../support/system.js' */

const SCREENSHOTS = new URL('../../.data/screenshots/', import.meta.url);

/** @type {TestSystem} */
let system;
/** @type {TestBrowser} */
let browser;
beforeAll(async () => {
  system = await startTestSystem();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.stop();
  await system?.stop();
});

test('Documents: from the dashboard: every route, topic and schema, without another host', async () => {
  const { page, complaints, close } = await browser.open();
  /** @type {Set<string>} */
  const origins = new Set();
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  await page.goto(system.httpUrl);
  await page.getByRole('link', { name: 'API' }).click();
  await page.waitForURL(`${system.httpUrl}/docs`);
  await page.getByRole('heading', { name: 'MQTT' }).waitFor();

  const [openApi, asyncApi] = await Promise.all(
    ['/openapi.json', '/asyncapi.json'].map(async (path) => (await fetch(system.httpUrl + path)).json()),
  );
  const ids = [
    ...Object.values(openApi.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    ),
    ...Object.keys(asyncApi.channels),
    ...Object.keys({ ...openApi.components.schemas, ...asyncApi.components.schemas }).map(
      (name) => `schema-${name}`,
    ),
  ];
  const shown = await page.locator('.entry').evaluateAll((entries) => entries.map(({ id }) => id));
  expect(shown.sort()).toEqual(ids.sort());

  const targets = await page
    .locator('a[href^="#"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  const missing = await page.evaluate(
    (all) => all.filter((href) => !document.getElementById(href.slice(1))),
    targets,
  );
  expect(missing).toEqual([]);
  expect([...origins]).toEqual([system.httpUrl]);
  expect(complaints).toEqual([]);
  await close();
});

test('Documents: header: a link back, and the same theme', async () => {
  const { page, complaints, close } = await browser.open();
  const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
  await page.goto(`${system.httpUrl}/docs`);
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
  expect(await theme()).toBe('dark');
  const views = page.getByRole('navigation', { name: 'Views' });
  expect(await views.getByRole('link', { name: 'API' }).getAttribute('aria-current')).toBe('page');
  await views.getByRole('link', { name: 'Pipeline' }).click();
  await page.getByRole('heading', { level: 1, name: 'Pipeline' }).waitFor();
  expect(await theme()).toBe('dark');
  await page.goBack();
  await page.getByRole('heading', { name: 'MQTT' }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test.each([1360, 390, 320])('Documents: screen width %d: no overflow', async (width) => {
  const { page, close } = await browser.open({ viewport: { width, height: 844 } });
  await page.goto(`${system.httpUrl}/docs`);
  await page.getByRole('heading', { name: 'MQTT' }).waitFor();
  await page.screenshot({ path: fileURLToPath(new URL(`docs-${width}.png`, SCREENSHOTS)) });
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(beyond).toBeLessThanOrEqual(0);
  await close();
});

test('Documents: a link to a route: the page opens there', async () => {
  const { page, close } = await browser.open();
  await page.goto(`${system.httpUrl}/docs#listDeadLetters`);
  const entry = page.locator('#listDeadLetters');
  await entry.waitFor();
  await expect(entry.evaluate((element) => element.getBoundingClientRect().top)).resolves.toBeLessThan(200);
  await close();
});
