import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useCleanUps } from '../support/clean-ups.ts';
import { startTcpProxy } from '../support/http/tcp-proxy.ts';
import { untilStreams, useDashboard } from '../support/web/dashboard.ts';

let now = Date.now() - 3_600_000;

const dashboard = useDashboard({ fill: async () => void (await measure(1)) });
const afterwards = useCleanUps();

const measure = (value: number) => dashboard.publish('boiler', { sensor_id: 'load', ts: now++, value });

const VIEWS = ['/', '/devices/boiler', '/devices/boiler/sensors/load', '/pipeline'];

const untilShown = (page: Page, value: number) =>
  page.getByText(String(value), { exact: true }).first().waitFor();

const untilConnection = (page: Page, text: string) =>
  page.locator('.connection').filter({ hasText: text }).waitFor();

/** @param count of tabs of one browser */
async function openTabs(count: number, urlOf: (index: number) => string): Promise<Page[]> {
  const context = dashboard.page.context();
  const pages = [dashboard.page];
  while (pages.length < count) pages.push(await context.newPage());
  for (const [index, page] of pages.entries()) {
    await page.goto(urlOf(index));
    await untilConnection(page, 'Live');
  }
  return pages;
}

const hide = (page: Page, isHidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);

/** The browser lacks shared workers, as Chrome on Android did for years. */
const withoutWorkers = () =>
  dashboard.page.context().addInitScript(() => void Reflect.deleteProperty(globalThis, 'SharedWorker'));

test.each([
  ['a shared worker', () => {}],
  ['a leading tab', withoutWorkers],
])(
  'Dashboard: stream by %s, a tab is closed: the others go on; all are hidden: the stream ends until one is shown',
  async (_, prepare) => {
    await prepare();
    const [first, second, third] = (await openTabs(
      3,
      (index) => dashboard.system.httpUrl + VIEWS[index],
    )) as [Page, Page, Page];
    await untilStreams(dashboard.system, 1);
    await first.close();
    await untilStreams(dashboard.system, 1);
    await measure(432);
    for (const page of [second, third]) await untilShown(page, 432);

    for (const page of [second, third]) await hide(page, true);
    await untilStreams(dashboard.system, 0);
    await measure(543);
    expect(await second.title()).not.toContain('(!)');
    await hide(third, false);
    await untilShown(third, 543);
    await untilStreams(dashboard.system, 1);
  },
);

test('Dashboard: the connection of several tabs is lost: each shows Reconnecting and a red line, then every missed value', async () => {
  const proxy = await startTcpProxy(dashboard.system.httpUrl);
  afterwards(() => proxy.stop());
  dashboard.expectComplaints(/^Failed to load resource: (net::ERR_|.*status of 503)/);
  const pages = await openTabs(3, (index) => proxy.url + VIEWS[index]);
  proxy.cut('refuse');
  for (const page of pages) {
    await untilConnection(page, 'Reconnecting');
    await page.locator('.connection[data-level="critical"]').waitFor();
  }
  await measure(876);
  await proxy.open();
  for (const page of pages) await untilConnection(page, 'Live');
  for (const page of pages) await untilShown(page, 876);
});
