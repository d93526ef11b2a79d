import { expect, test } from '@jest/globals';
import { FURNACE, publishFurnace } from '../../support/payloads/varied-sensors.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishFurnace });

async function open(sensor: string, query: string = '') {
  await dashboard.visit(`/devices/${FURNACE}/sensors/${sensor}${query}`);
  await dashboard.page.locator('figure.chart-frame[aria-busy="false"]').waitFor();
}

const textOf = async (locator: string) => (await dashboard.page.locator(locator).first().textContent()) ?? '';
const now = () => textOf('.now .value');

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
