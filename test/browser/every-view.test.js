import { describe, expect, jest, test } from '@jest/globals';
import { useDashboard } from '../support/dashboard.js';
import { DEVICES, publishSmallFleet } from '../support/small-fleet.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

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
  ['devices', '/?show=devices'],
  ['a device', '/devices/collar-1'],
  ['a sensor', '/devices/collar-1/sensors/ambient'],
  ['the pipeline', '/pipeline'],
  ['dead letters', '/dead-letters'],
  ['alarms', '/alarms'],
  ['import', '/import'],
  ['credentials', '/credentials'],
  ['a device that does not exist', '/devices/nobody'],
  ['an address of nothing', '/nowhere'],
];

/** Opens a view, and waits until all its requests are answered. @param {string} path */
async function openView(path) {
  await dashboard.visit(path);
  await dashboard.page.locator('main h1, main h2').first().waitFor({ state: 'attached' });
  await until(async () => (await dashboard.page.locator('.waiting').count()) === 0, {
    what: 'the answers of the view',
  });
}

describe.each(VIEWS)('View: %s', (_, path) => {
  test('requests: own host only, nothing that the policy forbids', async () => {
    /** @type {Set<string>} */
    const origins = new Set();
    dashboard.page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await openView(path);
    expect([...origins]).toEqual([dashboard.system.httpUrl]);
    // The console has what the policy refuses. It also has the expected 404 of a missing device.
    const complaints = dashboard.takeComplaints().filter((complaint) => !complaint.includes('404'));
    expect(complaints).toEqual([]);
  });

  test('reduced motion: nothing moves', async () => {
    await dashboard.page.emulateMedia({ reducedMotion: 'reduce' });
    await dashboard.page.addInitScript(() => {
      const moved = new Set();
      Object.assign(window, { moved });
      (function look() {
        for (const animation of document.getAnimations()) {
          const { duration } = animation.effect?.getComputedTiming() ?? {};
          // An animation with a delay only does not move.
          if (Number(duration) > 0) moved.add(/** @type {any} */ (animation.effect).target.className);
        }
        requestAnimationFrame(look);
      })();
    });
    await openView(path);
    expect(await dashboard.page.evaluate(() => [.../** @type {any} */ (window).moved])).toEqual([]);
    dashboard.takeComplaints();
  });
});

/** Limits of a first view with an empty cache. A reload asks for the page and for data only. */
const FIRST_VIEW = { files: 8, kilobytes: 120 };

test('Dashboard: first view, then a reload: few files, compressed, and none again', async () => {
  const { page } = dashboard;
  /** @type {Array<{ path: string, bytes: number }>} */
  const files = [];
  page.on('requestfinished', async (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) return;
    const response = await request.response();
    const { responseBodySize } = await request.sizes();
    if (response && !response.fromServiceWorker()) files.push({ path: pathname, bytes: responseBodySize });
  });
  await openView('/');
  const kilobytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1000;
  expect(files.length).toBeLessThanOrEqual(FIRST_VIEW.files);
  expect(kilobytes).toBeLessThanOrEqual(FIRST_VIEW.kilobytes);
  files.length = 0;
  await page.reload();
  await dashboard.rows().first().waitFor();
  expect(files.filter(({ path, bytes }) => path.startsWith('/assets/') && bytes > 0)).toEqual([]);
});

test('View: unknown address: a message with a link to the fleet', async () => {
  const response = await dashboard.visit('/nowhere');
  expect(response?.status()).toBe(404);
  dashboard.takeComplaints();
  await dashboard.page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  await dashboard.page.getByText('/nowhere', { exact: true }).waitFor();
  await dashboard.page.locator('.connection', { hasText: 'Live' }).waitFor();
  await dashboard.lookAt('not-found');
  await dashboard.page.getByRole('link', { name: 'To the fleet' }).click();
  await dashboard.page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor({ state: 'attached' });
});

test('Keyboard: from the top of the page: a sensor is reachable', async () => {
  const { page } = dashboard;
  await openView('/');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');

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
  // The next Tab is within the new view, not in the header.
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  await page.goBack();
  await dashboard.untilRows(DEVICES.length);
});

/** @returns {Promise<string>} */
const focused = () => dashboard.page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');

/** @param {() => Promise<boolean>} isThere */
async function tabTo(isThere) {
  for (let step = 0; step < MAX_STEPS; step++) {
    await dashboard.page.keyboard.press('Tab');
    if (await isThere()) return;
  }
  throw new Error(`not reached by ${MAX_STEPS} steps of the Tab key`);
}

test('View: modules cannot be fetched: a problem, then a successful retry', async () => {
  const { page } = dashboard;
  const module = '**/assets/pipeline-*.js';
  await page.route(module, (route) => route.abort());
  await openView('/');
  await page.getByRole('link', { name: 'Pipeline' }).first().click();
  await page.getByRole('alert').getByText('cannot be reached').waitFor();
  dashboard.takeComplaints();
  await page.unroute(module);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Pipeline' }).first().waitFor({ state: 'attached' });
});

test('View: slow modules: a note, then the view', async () => {
  const { page } = dashboard;
  /** @type {() => void} */
  let goOn = () => {};
  const held = new Promise((resolve) => {
    goOn = () => resolve(undefined);
  });
  await page.route('**/assets/pipeline-*.js', async (route) => {
    await held;
    await route.continue();
  });
  await openView('/');
  await page.getByRole('link', { name: 'Pipeline' }).first().click();
  await page.getByRole('status').getByText('Loading this view').waitFor();
  goOn();
  await page.getByRole('heading', { name: 'Pipeline' }).first().waitFor({ state: 'attached' });
});
