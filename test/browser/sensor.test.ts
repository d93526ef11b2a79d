import { describe, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEVICES, publishSmallFleet } from '../support/simulator/small-fleet.ts';
import { until } from '../support/until.ts';
import { useDashboard } from '../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

const rowOf = (device: string, sensor: string) =>
  dashboard.rows().filter({ hasText: device }).filter({ hasText: sensor });
const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';

describe('Sensor', () => {
  test('Sensor page: opened from the sensor list by keyboard: chart, statistics and sample table are shown', async () => {
    await dashboard.visit('/?name=ear');
    await dashboard.untilRows(DEVICES.length);
    await rowOf('collar-1', 'ear').locator('a.row-link').press('Enter');
    await dashboard.page.getByRole('heading', { name: 'ear', level: 1 }).waitFor();
    await dashboard.page.getByText('1 h', { exact: true }).click();
    const statistics = dashboard.page.getByLabel('Statistics of what is shown');
    await until(async () => /Samples\s*120/.test(await textOf(statistics)), { what: 'all samples' });
    await statistics.filter({ hasText: /Lowest\s*37\.00\s*°C.*Highest\s*39\.00\s*°C/s }).waitFor();
    await until(async () => (await dashboard.paintedColors('.chart canvas')) > 20, {
      what: 'a chart that is drawn',
    });
    await until(async () => (await dashboard.page.locator('table.samples tbody tr').count()) > 5, {
      what: 'a table of the samples',
    });
  });

  test('Sensor page: a new sample arrives: newest value and sample table show that sample; the address keeps a chosen range', async () => {
    await dashboard.publish('collar-4', { sensor_id: 'tail', ts: Date.now(), value: 74 });
    await dashboard.visit('/devices/collar-4/sensors/tail?range=1m');
    const newest = dashboard.page.locator('table.samples tbody tr').first();
    await newest.waitFor();
    await dashboard.publish('collar-4', { sensor_id: 'tail', ts: Date.now() + 1000, value: 155.5 });
    await dashboard.page.locator('.now').getByText('155.5', { exact: true }).waitFor();
    await newest.getByText('155.5').waitFor();
    await dashboard.page.getByText('15 min', { exact: true }).click();
    await until(async () => dashboard.page.url().endsWith('?range=15m'), {
      what: 'the range in the address',
    });
    await until(async () =>
      /Highest\s*155\.5/.test(await textOf(dashboard.page.getByLabel('Statistics of what is shown'))),
    );
  });
});
