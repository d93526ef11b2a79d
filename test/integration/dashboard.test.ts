import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEVICES, publishSmallFleet, SAMPLES } from '../support/simulator/small-fleet.ts';
import { until } from '../support/until.ts';
import { useDashboard } from '../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';

test('Dashboard: device publishes a sample: the sensor list shows the value at once, and the chart shows all samples', async () => {
  await dashboard.visit('/?name=ear');
  await dashboard.untilRows(DEVICES.length);
  const row = dashboard.rows().filter({ hasText: 'collar-1' });
  await dashboard.publish('collar-1', { sensor_id: 'ear', ts: Date.now() + 1000, value: 41.5 });
  await row.getByText('41.5').waitFor();

  await row.locator('a.row-link').press('Enter');
  await dashboard.page.getByRole('heading', { name: 'ear', level: 1 }).waitFor();
  await dashboard.page.getByText('1 h', { exact: true }).click();
  const statistics = dashboard.page.getByLabel('Statistics of what is shown');
  await until(async () => new RegExp(`Samples\\s*${SAMPLES + 1}`).test(await textOf(statistics)), {
    what: 'all samples',
  });
  expect(await textOf(statistics)).toMatch(/Lowest\s*37\.00\s*°C[\s\S]*Highest\s*41\.50\s*°C/);
  await until(async () => (await dashboard.paintedColors('.chart canvas')) > 20, {
    what: 'a drawn chart',
  });
});
