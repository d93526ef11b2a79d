import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { publishNewSamples, publishSmallFleet } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

const legend = () => dashboard.page.getByLabel('Compared sensors');
const charts = () => dashboard.page.locator('.compare-chart');
const parameter = (name: string) => new URL(dashboard.page.url()).searchParams.get(name);

/** Selects two sensors in the list of the fleet, and opens their comparison. */
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

  test('Comparison page: options Stacked, Own axes and With last week: a chart for each sensor; the address holds all options', async () => {
    await compareTwo();
    await dashboard.page.getByText('Stacked', { exact: true }).click();
    await until(async () => (await charts().count()) === 2, { what: 'two charts' });
    await dashboard.page.getByText('Own axes', { exact: true }).click();
    await dashboard.page.getByText('With last week', { exact: true }).click();
    await until(async () => parameter('ghost') === '1w', { what: 'the address' });
    expect([parameter('view'), parameter('axes')]).toEqual(['stacked', 'own']);
    await dashboard.page.getByRole('columnheader', { name: 'A week earlier' }).waitFor();
    await dashboard.lookAt('compare-stacked');
  });

  test('Comparison page: arrow key in the chart: screen readers announce the value of each sensor at the cursor', async () => {
    await compareTwo();
    // Each of the two sensors shows its newest value and three statistics.
    const figures = async () => (await legend().textContent())?.match(/°C/g)?.length;
    await until(async () => (await figures()) === 8, { what: 'the figures of both' });
    await until(async () => (await dashboard.paintedColors('.compare-chart canvas')) > 3, { what: 'lines' });
    await charts().first().press('ArrowLeft');
    await dashboard.page.getByText(/ear of collar-1 .*ear of collar-3/).waitFor({ state: 'attached' });
  });

  test('Comparison page: a sensor with the states open and closed: drawn as a strip with state names, aligned with the chart', async () => {
    await dashboard.announce('gate', {
      sensors: [{ sensor_id: 'open', name: 'open', type: 'boolean', interval_ms: 1000 }],
    });
    const end = Math.floor(Date.now() / 1000) * 1000;
    await publishNewSamples(dashboard);
    await dashboard.publish(
      'gate',
      Array.from({ length: 60 }, (_, n) => ({
        sensor_id: 'open',
        ts: end - n * 1000,
        value: Number(n >= 15),
      })),
    );
    await dashboard.visit('/compare?s=collar-1/ear&s=gate/open&range=2m');
    const strip = dashboard.page.locator('.compare-strip');
    await strip.getByText('open of gate').waitFor();
    await until(async () => (await dashboard.paintedColors('.compare-strip canvas')) > 2, { what: 'bands' });
    await until(async () => (await dashboard.paintedColors('.compare-chart canvas')) > 3, { what: 'a line' });
    const row = legend().getByRole('row', { name: /open gate/ });
    await until(async () => /closed.*open 7[0-9.]+ %/.test((await row.textContent()) ?? ''), {
      what: 'words and a share',
    });
    const plots = await dashboard.page
      .locator('.compare .u-over')
      .evaluateAll((all) => all.map((plot) => Math.round(plot.getBoundingClientRect().left)));
    expect(new Set(plots).size).toBe(1);
    await dashboard.lookAt('compare-states');
  });

  test('Comparison page: two sensors are removed in turn: first one row remains, then the note Nothing is compared yet', async () => {
    await compareTwo();
    await dashboard.page.getByRole('button', { name: 'Remove ear of collar-1' }).click();
    await until(async () => (await legend().locator('tbody tr').count()) === 1, { what: 'one sensor' });
    await dashboard.page.getByRole('button', { name: 'Remove ear of collar-3' }).click();
    await dashboard.page.getByRole('heading', { name: 'Nothing is compared yet' }).waitFor();
  });
});

describe('Annotations', () => {
  test('Annotation of a sensor: added: shown as a focusable mark on the chart and as a row; removed: both disappear', async () => {
    await dashboard.visit('/devices/collar-1/sensors/ear');
    await dashboard.page.getByRole('button', { name: 'Annotate…' }).click();
    await dashboard.page.getByLabel('Text', { exact: true }).fill('Battery replaced');
    await dashboard.page.getByRole('button', { name: 'Store' }).click();
    const panel = dashboard.page.getByLabel('Annotations', { exact: true });
    await panel.getByText('Battery replaced').waitFor();
    const mark = dashboard.page.getByRole('button', { name: /^Annotation at .*: Battery replaced$/ });
    // The browser shows the focus only after a key press.
    await dashboard.page.keyboard.press('Tab');
    await mark.focus();
    await dashboard.page.locator('.chart-mark-text').filter({ hasText: 'Battery replaced' }).waitFor();
    await dashboard.lookAt('annotations');
    await panel.getByRole('button', { name: 'Remove annotation: Battery replaced' }).click();
    await panel.getByText('None in this range.').waitFor();
    await mark.waitFor({ state: 'detached' });
  });

  test('Annotation for the whole installation: stored on the page of one device: shown on the page of another device', async () => {
    await dashboard.visit('/devices/collar-1/sensors/ear');
    await dashboard.page.getByRole('button', { name: 'Annotate…' }).click();
    await dashboard.page.getByLabel('Text', { exact: true }).fill('Storm');
    await dashboard.page.getByRole('checkbox', { name: /whole installation/ }).check();
    await dashboard.page.getByRole('button', { name: 'Store' }).click();
    await dashboard.page.getByLabel('Annotations', { exact: true }).getByText('Storm').waitFor();
    await dashboard.visit('/devices/collar-2');
    await dashboard.page.getByLabel('Annotations', { exact: true }).getByText('Storm').waitFor();
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
