import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Request, Route } from 'playwright-core';
import { DEVICES, publishSmallFleet } from '../support/simulator/small-fleet.ts';
import { until } from '../support/until.ts';
import { useDashboard } from '../support/web/dashboard.ts';

/** The highest number of Tab presses that a test makes to reach an element. */
const MAX_STEPS = 80;

const dashboard = useDashboard({
  async fill(dashboard) {
    await publishSmallFleet(dashboard);
    await dashboard.publish('collar-1', [{ sensor_id: 'ambient', ts: 'yesterday', value: 1 }]);
  },
});

const VIEWS = [
  ['the fleet', '/'],
  ['the wall alone', '/?full'],
  ['devices', '/?show=devices'],
  ['a device', '/devices/collar-1'],
  ['a sensor', '/devices/collar-1/sensors/ambient'],
  ['a device that does not exist', '/devices/nobody'],
  ['an unknown address', '/nowhere'],
];

/** The pages of features, by name. The build lists them. */
const PAGES: string[] = JSON.parse(
  readFileSync(new URL('../../dist/web/pages.json', import.meta.url), 'utf8'),
);

/** Files of the parts that features add to pages with charts. Each feature has one such file at most. */
const DETAILS = readdirSync(new URL('../../dist/web/assets/', import.meta.url)).filter((name) =>
  /^(?:bands|panel|note|buttons?|line|range-form|strip)-.*\.js$/.test(name),
);

/** Queries with which a page shows more than without. */
const QUERIES: Record<string, string> = {
  compare: '?s=collar-1/ambient',
  alarms: '?device=collar-1&sensor=ambient',
};

const OF_FEATURES = PAGES.flatMap((name) => [
  [name, `/${name}`],
  ...(name in QUERIES ? [[`${name} with a query`, `/${name}${QUERIES[name]}`]] : []),
]);

/** Opens a view, and waits for the answers to all its requests. */
async function openView(path: string) {
  await dashboard.visit(path);
  await dashboard.page.locator('main h1, main h2').first().waitFor({ state: 'attached' });
  await until(async () => (await dashboard.page.locator('.waiting').count()) === 0, {
    what: 'the answers of the view',
  });
}

test.each([...VIEWS, ...OF_FEATURES])(
  'Dashboard view %s: opened, in both themes: only requests to its own host, no animation with reduced motion, no violation of accessibility',
  async (_, path = '') => {
    const { page } = dashboard;
    const origins: Set<string> = new Set();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    // The browser console lists requests that the content security policy refuses, and the expected 404 for a missing device.
    dashboard.expectComplaints(/status of 404/);
    await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
    await page.addInitScript(() => {
      const moved = new Set();
      Object.assign(window, { moved });
      (function look() {
        for (const animation of document.getAnimations()) {
          const { duration } = animation.effect?.getComputedTiming() ?? {};
          // An animation with a delay and no duration does not move anything.
          if (Number(duration) > 0) moved.add((animation.effect as KeyframeEffect).target?.className);
        }
        requestAnimationFrame(look);
      })();
    });
    await openView(path);
    const moved = () => page.evaluate(() => [...(window as unknown as { moved: Set<string> }).moved]);
    expect(await moved()).toEqual([]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await dashboard.expectNoViolation();
    }
    expect([...origins]).toEqual([dashboard.system.httpUrl]);
  },
);

/** Limits for opening the first view with an empty browser cache. */
const FIRST_VIEW = { files: 8, kilobytes: 120 };

/** A reload may fetch the HTML page and one more file. Everything else comes from the cache. */
const RELOAD_FILES = 2;

test('Dashboard: fleet page is opened, then reloaded: at most 8 files and 120 kB are fetched, and no asset twice', async () => {
  const { page } = dashboard;
  const measured: Array<Promise<{ path: string; bytes: number } | null>> = [];
  page.on('requestfinished', (request) => {
    if (!isFile(request)) return;
    const measure = async () => {
      const response = await request.response();
      const { responseBodySize: bytes } = await request.sizes();
      return response && !response.fromServiceWorker()
        ? { path: new URL(request.url()).pathname, bytes }
        : null;
    };
    measured.push(measure());
  });
  let requested = 0;
  const questions: string[] = [];
  page.on('request', (request) => {
    if (isFile(request)) requested++;
    else questions.push(new URL(request.url()).pathname);
  });
  /** @returns the files since the last call */
  async function takeFiles(): Promise<Array<{ path: string; bytes: number }>> {
    await until(() => measured.length === requested, { what: 'the end of all requests for files' });
    requested = 0;
    return (await Promise.all(measured.splice(0))).filter((file) => file !== null);
  }

  await openView('/');
  const files = await takeFiles();
  const kilobytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1000;
  expect(files.length).toBeLessThanOrEqual(FIRST_VIEW.files);
  expect(kilobytes).toBeLessThanOrEqual(FIRST_VIEW.kilobytes);
  // The page sends no API request twice, and no request for each row of the list below the wall.
  expect(questions.filter((path, index) => questions.indexOf(path) !== index)).toEqual([]);
  expect(questions.filter((path) => path.includes('/sensors/'))).toEqual([]);
  await page.reload();
  await dashboard.rows().first().waitFor();
  const again = await takeFiles();
  const fetched = again.filter(({ bytes }) => bytes > 0);
  expect(fetched.filter(({ path }) => path.startsWith('/assets/'))).toEqual([]);
  expect(fetched.length).toBeLessThanOrEqual(RELOAD_FILES);
});

/**
 * Returns whether a request is for a file. The script of the shared worker is left out: Playwright does not report its end.
 */
const isFile = (request: Request) => !/^\/(?:api\/|assets\/worker-)/.test(new URL(request.url()).pathname);

test('Dashboard: unknown address: status 404, and a message with a link to the fleet', async () => {
  dashboard.expectComplaints(/status of 404/);
  const response = await dashboard.visit('/nowhere');
  expect(response?.status()).toBe(404);
  await dashboard.page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  await dashboard.page.getByText('/nowhere', { exact: true }).waitFor();
  await dashboard.page.locator('.connection', { hasText: 'Live' }).waitFor();
  await dashboard.lookAt('not-found');
  await dashboard.page.getByRole('link', { name: 'To the fleet' }).click();
  await dashboard.page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor({ state: 'attached' });
});

test('Dashboard: keyboard only: a user reaches the page of a sensor from the top of the fleet page', async () => {
  const { page } = dashboard;
  await openView('/');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  await dashboard.untilFocused(page.locator('#main'));

  await tabTo(() =>
    page.evaluate(
      () => document.activeElement === document.querySelector('input[placeholder="sensor or device"]'),
    ),
  );
  await page.keyboard.type('belly');
  await dashboard.untilRows(DEVICES.length);
  await tabTo(() => page.evaluate(() => document.activeElement?.classList.contains('row-link') ?? false));
  await page.keyboard.press('Enter');
  await page.waitForURL('**/devices/*/sensors/*');
  await page.getByRole('heading', { level: 1, name: 'belly' }).waitFor();
  // The new view has the focus, so that the next Tab does not start in the header.
  await dashboard.untilFocused(page.locator('#main'));
  await page.goBack();
  await dashboard.untilRows(DEVICES.length);
});

test('Sensor page: keyboard only: a user opens Dates, types a range, and sees that range', async () => {
  await dashboard.open({ timezoneId: 'UTC', locale: 'en-US' });
  const { page } = dashboard;
  await openView('/devices/collar-1/sensors/ambient');
  await tabTo(async () => (await focused()) === 'Dates…');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Range', exact: true });
  for (const [label, month] of [
    ['From', '01'],
    ['To', '02'],
  ] as const) {
    const field = form.getByLabel(label, { exact: true });
    // Each part of a date is a stop of the Tab key. The first is the month.
    await tabTo(() => field.evaluate((input) => input === document.activeElement));
    for (const part of [month, '15', '2026']) await page.keyboard.type(part);
    await page.keyboard.press('ArrowRight');
    for (const part of ['10', '30', '00', 'AM']) await page.keyboard.type(part);
  }
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Back to now' }).waitFor();
  expect(new URL(page.url()).search).toBe(
    '?from=2026-01-15T10%3A30%3A00.000Z&to=2026-02-15T10%3A30%3A00.000Z',
  );
  await page.getByText('2026-01-15 10:30:00').first().waitFor();
});

const focused = (): Promise<string> =>
  dashboard.page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');

async function tabTo(isReached: () => Promise<boolean>) {
  for (let step = 0; step < MAX_STEPS; step++) {
    await dashboard.page.keyboard.press('Tab');
    if (await isReached()) return;
  }
  throw new Error(`not reached by ${MAX_STEPS} steps of the Tab key`);
}

/** `answer`: response to `/healthz`. */
const REASONS: Array<[name: string, answer: (route: Route) => Promise<void>, title: string]> = [
  ['API unreachable', (route) => route.abort(), 'The API cannot be reached'],
  ['proxy answers 502', (route) => route.fulfill({ status: 502 }), 'The API cannot be reached'],
  ['API reachable', (route) => route.continue(), 'A file of this view cannot be loaded'],
];

test.each(REASONS)(
  'Dashboard view: its JavaScript module cannot be loaded, %s: the cause is shown, and Try again loads the view',
  async (_, answer, title) => {
    const { page } = dashboard;
    const paths = ['**/assets/sensor-*.js', '**/healthz'];
    await page.route('**/assets/sensor-*.js', (route) => route.abort());
    await page.route('**/healthz', answer);
    dashboard.expectComplaints(/net::ERR_FAILED|status of 502/);
    dashboard.expectComplaints(new RegExp(`^Problem: ${title}`));
    await openView('/');
    await dashboard.rows().first().locator('a.row-link').click();
    await page.getByRole('alert').getByText(title).waitFor();
    for (const path of paths) await page.unroute(path);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('Chart', { exact: true }).waitFor();
  },
);

test('Dashboard view: its JavaScript module loads slowly: the note Loading this view is shown first, then the view', async () => {
  const { page } = dashboard;
  let goOn: () => void = () => {};
  const held = new Promise((resolve) => {
    goOn = () => resolve(undefined);
  });
  await page.route('**/assets/sensor-*.js', async (route) => {
    await held;
    await route.continue();
  });
  await openView('/');
  await dashboard.rows().first().locator('a.row-link').click();
  await page.getByRole('status').getByText('Loading this view').waitFor();
  goOn();
  await page.getByLabel('Chart', { exact: true }).waitFor();
});

test.each([
  '/devices/collar-1',
  '/devices/collar-1/sensors/ambient',
  ...(PAGES.includes('compare') ? ['/compare'] : []),
])(
  'Dashboard page %s: a part that a feature adds cannot be loaded: the page is drawn without it, and Reload loads all',
  async (path) => {
    const { page } = dashboard;
    const parts = DETAILS.map((name) => `**/assets/${name}`);
    if (parts.length === 0) return;
    for (const part of parts) await page.route(part, (route) => route.abort());
    dashboard.expectComplaints(/net::ERR_FAILED/);
    await openView(path);
    await page.getByRole('alert').getByText('A part of this page could not be loaded.').waitFor();
    for (const part of parts) await page.unroute(part);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.locator('main h1').first().waitFor({ state: 'attached' });
  },
);
