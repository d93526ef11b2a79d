import { expect, test } from '@jest/globals';
import { writeSmallFleetUsual } from '../../../support/features/baselines-small-fleet.ts';
import { publishSmallFleet, SITES } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({
  system: { periods: { baselines: 200 } },
  async fill(opened) {
    await publishSmallFleet(opened);
    await writeSmallFleetUsual(opened);
    await publishOutlier();
    await until(async () => (await opened.system.get('/outliers')).outliers === 1, { what: 'the outlier' });
  },
});

/** Publishes a new outlier before a test. Old values do not count as outliers. */
const publishOutlier = () =>
  dashboard.publish('collar-2', { sensor_id: 'ambient', ts: Date.now(), value: 90 });

/** The count of a fleet that is too large for one cell per sensor. */
const countOf = (devices: number) => ({
  devices: { online: devices, offline: 0, not_live: 0 },
  sensors: 100_000,
  by_type: { temperature: 50_000, pulse: 50_000 },
  by_site: Object.fromEntries(SITES.map((site) => [site, 50_000])),
});

/** @param devices number in the simulated count */
async function visitLarge(devices: number) {
  await dashboard.page.route('**/api/v1/fleet', (route) => route.fulfill({ json: countOf(devices) }));
  await dashboard.visit('/');
}

const tiles = (name: string) => dashboard.page.getByRole('list', { name }).getByRole('link');

test('Wall of a large fleet: opened: tiles of sites, the site with an outlier first; a click shows tiles of its devices', async () => {
  await publishOutlier();
  await visitLarge(25_000);
  const [north = '', south = ''] = SITES;
  await tiles('Sites').first().getByText(south).waitFor();
  await tiles('Sites').last().filter({ hasText: north }).waitFor();
  await tiles('Sites')
    .first()
    .filter({ hasText: /1 far off.*Far above its usual: ambient 90/ })
    .waitFor();
  await dashboard.lookAt('wall-sites');
  await tiles('Sites').first().click();
  await tiles('Devices').first().getByText('collar-2').waitFor();
  expect(new URL(dashboard.page.url()).searchParams.get('site')).toBe(south);
  await tiles('Devices').first().click();
  await dashboard.page.getByRole('heading', { name: 'collar-2', level: 1 }).waitFor();
});
