import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { sharedContactPoint } from '../../../support/database/engine.ts';
import { type Gate, startGate } from '../../../support/http/tcp-gate.ts';
import { publishSmallFleet, SENSORS } from '../../../support/simulator/small-fleet.ts';
import { startTestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';
import { startBrowser } from '../../../support/web/browser.ts';
import { Dashboard } from '../../../support/web/dashboard.ts';

const dashboard = new Dashboard();
let database: Gate;
const afterwards = useCleanUps();

beforeAll(async () => {
  database = await startGate(`cql://${sharedContactPoint()}`);
  dashboard.system = await startTestSystem({
    settings: { CQL_CONTACT_POINTS: `127.0.0.1:${database.port}` },
    periods: { baselines: 200 },
  });
  dashboard.browser = await startBrowser();
  dashboard.client = await mqtt.connectAsync(dashboard.system.mqttUrl);
  await publishSmallFleet(dashboard);
});
afterAll(async () => {
  await dashboard.opened?.close();
  await dashboard.client?.endAsync(true);
  await dashboard.browser?.stop();
  await database?.open();
  await dashboard.system?.stop();
  await database?.stop();
});
beforeEach(() => dashboard.open());

const header = () => dashboard.page.locator('.header');
const connection = () => dashboard.page.locator('.connection');
/** Whether the icon of the page has a red dot. */
const isIconMarked = async () =>
  (await dashboard.page.locator('link[rel="icon"]').getAttribute('href'))?.includes('d3222a') ?? false;

const untilLevel = (level: string) => dashboard.page.locator(`.connection[data-level="${level}"]`).waitFor();

async function expectCalm() {
  // Before the connection is live, a page cannot know of a problem.
  await connection().getByText('Live').waitFor();
  await untilLevel('good');
  await header().locator('.verdict-line').waitFor({ state: 'detached' });
  await until(async () => !(await dashboard.page.title()).startsWith('(!)'), { what: 'a calm title' });
  await until(async () => !(await isIconMarked()), { what: 'a calm icon' });
}

async function expectAlarm(headline: RegExp) {
  await header().getByText(headline).waitFor();
  await until(async () => (await dashboard.page.title()).startsWith('(!) '), { what: 'a title with a sign' });
  await until(isIconMarked, { what: 'an icon with a sign' });
  await header().locator('.verdict-mark[data-level="critical"]').waitFor({ state: 'attached' });
}

/** Accepts console messages for failed requests, which an outage causes, and fails on others. */
function expectComplaintsOfTheNetwork() {
  const failed = /^Failed to load resource: (net::ERR_|the server responded with a status of 503)/;
  for (const complaint of dashboard.takeComplaints()) expect(complaint).toMatch(failed);
}

describe('Verdict', () => {
  test('Page header: database does not answer: every page shows for how long, and how many messages wait, until recovery', async () => {
    await dashboard.visit('/');
    await dashboard.page.getByText('32 sensors').first().waitFor();
    await expectCalm();

    // Simulates a stopped process: connections stay open, and no request is answered.
    database.cut('silence');
    afterwards(() => database.open());
    const published = SENSORS.map((sensor_id) =>
      dashboard.publish('collar-1', { sensor_id, ts: Date.now(), value: 39 }),
    );
    const headline =
      /^Nothing stored for \d+ \w+( \d+ \w+)?: the database does not answer\. \d+ messages? waits?\.$/;
    await expectAlarm(headline);
    await connection()
      .filter({ hasText: /^Database does not answer · \d+ \w+( \d+ \w+)?$/ })
      .waitFor();
    await dashboard.page.locator('.wall[data-stale="true"]').waitFor();
    expect(await dashboard.page.getByText('Nothing stands out').count()).toBe(0);
    await dashboard.lookAt('verdict-database-fleet');

    await header().getByRole('link', { name: 'Dead letters' }).click();
    await dashboard.page.waitForURL(/dead-letters/);
    await expectAlarm(headline);
    await header().getByRole('link', { name: 'See the pipeline' }).click();
    const lead = dashboard.page.locator('.verdict-lead');
    await lead.getByText(/^✕ Nothing stored for .* messages? waits?\.$/).waitFor();
    await lead
      .getByRole('listitem')
      .filter({ hasText: /the oldest for \d+ \w+( \d+ \w+)?\.$/ })
      .waitFor();
    await dashboard.lookAt('verdict-database-pipeline');

    await database.open();
    await Promise.all(published);
    await expectCalm();
    expectComplaintsOfTheNetwork();
  });
});
