import { describe, expect, test } from '@jest/globals';
import { FURNACE, publishFurnace, publishNewest } from '../../support/payloads/varied-sensors.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const DAY = 86_400_000;

const dashboard = useDashboard({ fill: publishFurnace });

async function open(sensor: string, query: string = '') {
  await dashboard.visit(`/devices/${FURNACE}/sensors/${sensor}${query}`);
  await dashboard.page.locator('figure.chart-frame[aria-busy="false"]').waitFor();
}

const textOf = async (locator: string) => (await dashboard.page.locator(locator).first().textContent()) ?? '';
const now = () => textOf('.now .value');

describe('Units', () => {
  test('Sensor page: value of 3.85 million pascals: title, chart and sample table use the unit MPa', async () => {
    await open('line-pressure', '?range=15m');
    await until(async () => (await now()) === '3.852MPa', { what: 'the value with its prefix' });
    await until(async () => (await textOf('figcaption')).includes('MPa'), { what: 'the unit of the chart' });
    await until(async () => (await textOf('table.samples thead')).includes('Value MPa'), {
      what: 'the unit of the table',
    });
  });

  test('Sensor page: the user chooses the unit bar for a pressure: value and threshold are in bar, also after a reload', async () => {
    await open('line-pressure', '?range=15m');
    await dashboard.page.getByLabel('Unit').selectOption('bar');
    await until(async () => (await now()) === '38.516bar' || (await now()) === '38.52bar', { what: 'bar' });
    await dashboard.page.getByLabel('High').fill('30');
    await dashboard.page.getByLabel('High').press('Enter');
    await until(() => new URL(dashboard.page.url()).searchParams.get('high') === '3000000', {
      what: 'a threshold as sent',
    });
    await dashboard.page.getByText(/\d+ of \d+ samples above high/).waitFor();
    await dashboard.page.reload();
    await until(async () => (await now()).endsWith('bar'), { what: 'bar again' });
    await until(async () => (await dashboard.page.getByLabel('High').inputValue()) === '30', {
      what: 'the threshold in bar',
    });
    await dashboard.visit(`/devices/${FURNACE}`);
    await dashboard.rows().filter({ hasText: 'line-pressure' }).getByText('bar').waitFor();
  });
});

test('Sensor page: hatch sensor that sends 0 and 1: the chart draws bands, and texts are open and closed', async () => {
  await open('hatch.open', '?range=15m');
  await dashboard.page.locator('figure.chart-frame[data-states="true"]').waitFor();
  await until(async () => /^(open|closed)$/.test((await now()).trim()), { what: 'a word' });
  await until(async () => /Samples closed.*Samples open.*Changes/s.test(await textOf('.range-figures')), {
    what: 'figures of states',
  });
  expect(await dashboard.page.getByLabel('Thresholds').count()).toBe(0);
  await until(async () => (await dashboard.paintedColors('.chart canvas')) > 3, { what: 'bands' });
  await dashboard.page.getByRole('application').focus();
  await dashboard.page.keyboard.press('ArrowLeft');
  await dashboard.page.locator('.readout', { hasText: /open|closed/ }).waitFor();
  await dashboard.lookAt('sensor-states');
});

test('Sensor chart: counter, and the choice Rate: the average rate is shown, and the address keeps the choice', async () => {
  await publishNewest(dashboard, 'counter');
  await open('counter', '?range=5m');
  await dashboard.page.getByText('Rate', { exact: true }).click();
  await until(() => new URL(dashboard.page.url()).searchParams.get('as') === 'rate', { what: 'the address' });
  await until(async () => /Average\s*3(\.0)?\s*beats\/s/.test(await textOf('.range-figures')), {
    what: 'three beats a second',
  });
});

test('Sensor page: range of a year in Europe/Berlin: daily bins begin at local midnight, in winter and in summer time', async () => {
  await dashboard.open({ timezoneId: 'Europe/Berlin' });
  await open('core', '?range=1y');
  const rows = dashboard.page.locator('table.samples.bins tbody time');
  await until(async () => (await rows.count()) > 20, { what: 'the bins' });
  const local = await rows.allTextContents();
  expect(local.every((text) => text.endsWith('00:00:00'))).toBe(true);
  await dashboard.page.getByText('Oldest first').click();
  await until(async () => (await rows.first().textContent()) !== local[0], { what: 'the oldest' });
  const all = await rows.evaluateAll((times) =>
    times.map((time) => Date.parse(time.getAttribute('datetime') ?? '')),
  );
  const steps = all.slice(1).map((ts, at) => (ts - Number(all[at])) / DAY);
  expect(steps.every((step) => Math.abs(step - Math.round(step)) < 0.05)).toBe(true);
  expect((await rows.allTextContents()).every((text) => text.endsWith('00:00:00'))).toBe(true);
  const others = dashboard.page.locator('table.samples.bins .other-zone');
  await until(
    async () => {
      if ((await others.count()) > 0) return true;
      await dashboard.page.getByRole('button', { name: 'Next' }).click();
      return false;
    },
    { what: 'rows on the other side of a clock change' },
  );
  expect(await others.first().textContent()).toMatch(/^ UTC\+[12]$/);
});
