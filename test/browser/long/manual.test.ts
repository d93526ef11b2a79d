import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { startBrowser, type TestBrowser } from '../../support/web/browser.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SCREENSHOTS = new URL('../../../.data/screenshots/', import.meta.url);
const BUILD_MS = 600_000;
/** Number of search results that the test opens. */
const LOOKED_AT = 6;

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

/** Questions of readers, their search words, and a text of the page that answers. */
const QUESTIONS = [
  {
    question: 'How do I let in a device behind Mosquitto?',
    searches: ['mosquitto device', 'credentials mosquitto'],
    answer: /password_file/,
  },
  {
    question: 'How do I load an old CSV?',
    searches: ['load CSV', 'old measurements'],
    answer: /npm run import -- kuehlhaus\.csv/,
  },
  {
    question: 'Is an acknowledged sample lost when a node dies?',
    searches: ['acknowledged lost', 'guarantees'],
    answer: /Acknowledged means committed/,
  },
];

/**
 * Searches in a new page, and opens the results one after another.
 * @returns whether one of the opened pages has the answer
 */
async function findAnswer({ words, answer }: { words: string; answer: RegExp }): Promise<boolean> {
  // The search keeps its last words, so a page that searched before would show old results first.
  const { page, close } = await browser.open();
  try {
    return await hasAnswer(page, { words, answer });
  } finally {
    await close();
  }
}

async function hasAnswer(page: Page, { words, answer }: { words: string; answer: RegExp }) {
  await page.goto(`${system.httpUrl}/docs/`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('#localsearch-input').fill(words);
  const results = page.locator('.VPLocalSearchBox a.result');
  // On a busy machine the index takes seconds to load. After that, results or a note without results appear.
  await results.or(page.locator('.VPLocalSearchBox .no-results')).first().waitFor();
  const links = await results.evaluateAll((anchors) =>
    anchors.map((anchor) => (anchor as HTMLAnchorElement).href),
  );
  const pages = new Set(links.slice(0, LOOKED_AT).map((link) => link.replace(/#.*/, '')));
  for (const link of pages) {
    await page.goto(link);
    if (answer.test((await page.locator('main').allTextContents()).join(''))) return true;
  }
  return false;
}

describe('Manual: a reader searches for an answer', () => {
  test.each(QUESTIONS)(
    'Manual search: $question: a search finds a page with the answer',
    async ({ searches, answer }) => {
      let isAnswered = false;
      for (const words of searches.slice(0, 2)) isAnswered ||= await findAnswer({ words, answer });
      expect(isAnswered).toBe(true);
    },
  );
});

async function untilReferenceHas(page: Page, texts: string[]) {
  for (const text of texts) await page.locator('#reference', { hasText: text }).waitFor();
}

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
  await untilReferenceHas(page, summaries);
  await page.screenshot({ path: screenshot('http') });
  expect(complaints).toEqual([]);
  await close();
});

test('Manual: page of the MQTT topics: every topic is listed', async () => {
  const { page, complaints, close } = await browser.open();
  await page.goto(`${system.httpUrl}/docs/mqtt/`);
  const asyncApi = await (await fetch(`${system.httpUrl}/asyncapi.json`)).json();
  const topics = Object.values<{ address: string }>(asyncApi.channels).map(({ address }) => address);
  await page.getByText(String(topics[0])).first().waitFor();
  await untilReferenceHas(page, topics);
  await page.screenshot({ path: screenshot('mqtt') });
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
