import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { publishNewSamples, publishSmallFleet } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const DAY_MS = 86_400_000;

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

  test('Comparison page: one of two sensors is hidden: its chart disappears, also after a reload; its table row stays', async () => {
    await compareTwo();
    await until(async () => (await dashboard.paintedColors('.compare-chart canvas')) > 3, { what: 'lines' });
    await dashboard.page.getByText('Stacked', { exact: true }).click();
    await until(async () => (await charts().count()) === 2, { what: 'two charts' });
    await dashboard.page.getByRole('button', { name: 'Hide ear of collar-1' }).click();
    await until(async () => (await charts().count()) === 1, { what: 'one chart' });
    expect(await legend().locator('tbody tr').count()).toBe(2);
    expect(parameter('hidden')).toBe('collar-1/ear');
    await dashboard.lookAt('compare-hidden');
    await dashboard.page.reload();
    await until(async () => (await charts().count()) === 1, { what: 'one chart after a reload' });
    await dashboard.page.getByRole('button', { name: 'Show ear of collar-1' }).click();
    await until(async () => (await charts().count()) === 2, { what: 'both charts again' });
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

  test('Comparison page: newest value of a sensor is three days old: the row shows that age, and marks the value as old', async () => {
    await dashboard.announce('probe', { sensors: [{ sensor_id: 'level', name: 'level', unit: 'm' }] });
    await dashboard.publish('probe', { sensor_id: 'level', ts: Date.now() - 3 * DAY_MS, value: 4 });
    await dashboard.visit('/compare?s=probe/level');
    await dashboard.page.getByRole('columnheader', { name: 'Newest' }).waitFor();
    const row = legend().getByRole('row', { name: /level probe/ });
    await row.locator('.value-number').filter({ hasText: '4 m' }).waitFor();
    await row.locator('.age[data-stale="true"]').filter({ hasText: '3 d' }).waitFor();
  });

  test('Comparison page: the API has not answered yet: the note Reading the sensors stands in place of the chart', async () => {
    let release = () => {};
    const released = new Promise((resolve) => {
      release = () => resolve(null);
    });
    await dashboard.page.route('**/latest?**', async (route) => {
      await released;
      await route.continue().catch(() => {});
    });
    await dashboard.visit('/compare?s=collar-1/ear&s=collar-3/ear');
    const note = dashboard.page.locator('.compare').getByText('Reading the sensors…');
    await note.waitFor();
    await dashboard.expectAccessible();
    release();
    await note.waitFor({ state: 'detached' });
    await until(async () => (await legend().locator('tbody tr').count()) === 2, { what: 'two sensors' });
  });

  test('Comparison page: the API refuses one of two sensors: a problem stays visible while the other sensor is shown', async () => {
    dashboard.expectComplaints(/status of 400/);
    const problem = { title: 'Bad Request', status: 400, code: 'bad_range', detail: 'No such range.' };
    const body = JSON.stringify({ type: 'about:blank', ...problem });
    let failing: string | null = null;
    await dashboard.page.route('**/series?**', (route) => {
      const { pathname } = new URL(route.request().url());
      failing ??= pathname;
      return pathname === failing
        ? route.fulfill({ status: 400, contentType: 'application/problem+json', body })
        : route.continue();
    });
    await publishNewSamples(dashboard);
    await dashboard.visit('/compare?s=collar-1/ear&s=collar-3/ear');
    // Two newest values, and the three statistics of the sensor that can be read.
    const figures = async () => (await legend().textContent())?.match(/°C/g)?.length;
    await until(async () => (await figures()) === 5, { what: 'the figures of the other' });
    await dashboard.page.locator('.compare .problem-line').getByText('No such range.').waitFor();
    expect(await dashboard.page.getByText('Reading samples…').count()).toBe(0);
  });

  test('Comparison page: the API refuses samples of the week before: the button Try again requests these samples again', async () => {
    dashboard.expectComplaints(/status of 400/);
    const problem = { title: 'Bad Request', status: 400, code: 'bad_range', detail: 'No such range.' };
    const body = JSON.stringify({ type: 'about:blank', ...problem });
    const to = Date.now() - DAY_MS;
    let refused = 0;
    await dashboard.page.route('**/series?**', (route) => {
      const isBefore = Number(new URL(route.request().url()).searchParams.get('to')) < to - DAY_MS;
      return isBefore && refused++ === 0
        ? route.fulfill({ status: 400, contentType: 'application/problem+json', body })
        : route.continue();
    });
    const range = [to - 3_600_000, to].map((at) => new Date(at).toISOString());
    await dashboard.visit(`/compare?s=collar-1/ear&ghost=1w&from=${range[0]}&to=${range[1]}`);
    const line = dashboard.page.locator('.compare .problem-line');
    await line.getByText('No such range.').waitFor();
    await line.getByRole('button', { name: 'Try again' }).click();
    await line.waitFor({ state: 'detached' });
    await dashboard.page.getByText('No samples in this range.').waitFor();
  });

  test('Comparison page: range without samples: first the note Reading samples, then the note No samples in this range', async () => {
    let release = () => {};
    const released = new Promise((resolve) => {
      release = () => resolve(null);
    });
    await dashboard.page.route('**/series?**', async (route) => {
      await released;
      await route.continue().catch(() => {});
    });
    await dashboard.visit('/compare?s=collar-1/ear&from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z');
    const chart = dashboard.page.locator('.compare-group');
    await chart.getByText('Reading samples…').waitFor();
    expect(await chart.getByText('No samples in this range.').count()).toBe(0);
    release();
    await chart.getByText('No samples in this range.').waitFor();
    await dashboard.page.unroute('**/series?**');
    await publishNewSamples(dashboard);
    await dashboard.visit('/compare?s=collar-1/ear');
    await until(async () => (await dashboard.paintedColors('.compare-chart canvas')) > 3, { what: 'a line' });
    expect(await chart.locator('.chart-over').count()).toBe(0);
  });

  test('Comparison page: range of a year: the request to the API holds the UTC offset of the browser', async () => {
    await dashboard.open({ timezoneId: 'Asia/Tokyo' });
    const inTokyo = dashboard.page.waitForRequest(/\/series\?.*utc_offset=540/);
    await dashboard.visit('/compare?s=collar-1/ear&range=1y');
    await inTokyo;
    await until(async () => (await legend().locator('tbody tr').count()) === 1, { what: 'the sensor' });
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

  test('Annotation list: the request for another range fails: the problem replaces the note None in this range', async () => {
    dashboard.expectComplaints(/ERR_FAILED/);
    await dashboard.visit('/devices/collar-3/sensors/ear');
    const panel = dashboard.page.getByLabel('Annotations', { exact: true });
    await panel.getByText('None in this range.').waitFor();
    await dashboard.page.route('**/annotations?**', (route) => route.abort());
    await dashboard.page.getByText('6 h', { exact: true }).click();
    await panel.getByText('They cannot be read: The API cannot be reached.').waitFor();
    expect(await panel.getByText('None in this range.').count()).toBe(0);
  });

  test('Annotation list: more annotations exist than the page reads: a note names the time before which some are missing', async () => {
    const ts = new Date(Date.now() - 60_000).toISOString();
    const note = { id: '3f2a1c00-c6a1-41f0-8000-0123456789ab', ts, device_id: null, text: 'Cleaned' };
    await dashboard.page.route('**/annotations?**', (route) => {
      const isOfDevice = route.request().url().includes('device=');
      return route.fulfill({ json: isOfDevice ? { items: [], next: null } : { items: [note], next: 'b' } });
    });
    await dashboard.visit('/devices/collar-1/sensors/ear');
    const text = /^Not all annotations before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d are shown\.$/;
    await dashboard.page.getByLabel('Annotations', { exact: true }).getByText(text).waitFor();
    await dashboard.visit('/compare?s=collar-1/ear');
    await dashboard.page.locator('.compare').getByText(text).waitFor();
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

  test('Device page: button CSV: the points of the charts are saved as a CSV file', async () => {
    await publishNewSamples(dashboard);
    await dashboard.visit('/devices/collar-1');
    await dashboard.page.locator('.signal-chart[aria-busy="false"]').first().waitFor();
    await until(async () => (await dashboard.paintedColors('.signal-chart canvas')) > 3, { what: 'a line' });
    const [csv] = await Promise.all([
      dashboard.page.waitForEvent('download'),
      dashboard.page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    expect(csv.suggestedFilename()).toBe('collar-1.csv');
    expect(await readFile(await csv.path(), 'utf8')).toMatch(/^collar-1,ambient,°C,\d{4}-.*Z,3[78]/m);
  });
});

test('Changes page: no sensor has history, and a device came online: a note, and a table row for the device', async () => {
  const status = JSON.stringify({ state: 'online', session: Date.now() });
  await dashboard.client.publishAsync('iot/v1/collar-4/status', status, { qos: 1 });
  await dashboard.visit('/');
  await dashboard.page.getByRole('link', { name: 'Changes', exact: true }).click();
  await dashboard.page.getByRole('heading', { level: 1, name: 'What changed in the last hour' }).waitFor();
  await dashboard.page.getByText('No sensor has a range yet:').waitFor();
  await dashboard.page
    .getByRole('table', { name: 'Devices that came or went' })
    .getByRole('row', { name: /collar-4 .*Online/ })
    .waitFor();
  await dashboard.lookAt('changes');
});
