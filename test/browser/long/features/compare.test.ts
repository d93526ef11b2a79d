import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { publishNewSamples, publishSmallFleet } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

const legend = () => dashboard.page.getByLabel('Compared sensors');
const charts = () => dashboard.page.locator('.compare-chart');

async function compareTwo() {
  await publishNewSamples(dashboard);
  await dashboard.visit('/?name=ear');
  await dashboard.untilRows(4);
  for (const device of ['collar-1', 'collar-3'])
    await dashboard.page.getByRole('button', { name: `Compare ear of ${device}` }).click();
  await dashboard.page.getByRole('link', { name: 'Compare 2' }).click();
  await until(async () => (await legend().locator('tbody tr').count()) === 2, { what: 'two sensors' });
}

describe('Compare', () => {
  test('Comparison page: sensors of two devices: one chart, figures of each sensor, and an address with device and sensor names', async () => {
    await compareTwo();
    expect(new URL(dashboard.page.url()).search).toBe('?s=collar-1/ear&s=collar-3/ear');
    await until(async () => (await dashboard.paintedColors('.compare-chart canvas')) > 3, { what: 'lines' });
    expect(await charts().count()).toBe(1);
    await until(async () => /°C/.test((await legend().textContent()) ?? ''), { what: 'figures' });
    await dashboard.lookAt('compare');
  });
});

describe('Downloads', () => {
  test('Sensor page: buttons CSV and PNG: the visible points are saved as a CSV file, the chart as a PNG file', async () => {
    await publishNewSamples(dashboard);
    await dashboard.visit('/devices/collar-1/sensors/ear');
    await dashboard.page.locator('figure.chart-frame[aria-busy="false"]').waitFor();
    await until(async () => (await dashboard.paintedColors('.chart canvas')) > 3, { what: 'a line' });
    const [csv] = await Promise.all([
      dashboard.page.waitForEvent('download'),
      dashboard.page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    expect(csv.suggestedFilename()).toBe('collar-1-ear.csv');
    const [head, first] = (await readFile(await csv.path(), 'utf8')).split('\n');
    expect(head).toBe('device,sensor,unit,ts,avg,min,max,count');
    expect(first).toMatch(/^collar-1,ear,°C,\d{4}-.*Z,3[78]/);
    const [png] = await Promise.all([
      dashboard.page.waitForEvent('download'),
      dashboard.page.getByRole('button', { name: 'PNG', exact: true }).click(),
    ]);
    expect((await readFile(await png.path())).subarray(1, 4).toString()).toBe('PNG');
  });
});
