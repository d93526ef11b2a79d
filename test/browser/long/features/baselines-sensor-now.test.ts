import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { writeSmallFleetUsual } from '../../../support/features/baselines-small-fleet.ts';
import { startGate } from '../../../support/http/tcp-gate.ts';
import { publishSmallFleet } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({
  system: { periods: { baselines: 200 } },
  async fill(opened) {
    await publishSmallFleet(opened);
    await writeSmallFleetUsual(opened);
  },
});
const afterwards = useCleanUps();

const baseline = () => dashboard.page.locator('.value-note');
const usualText = async () => ((await baseline().textContent()) ?? '').replaceAll(/\s+/g, ' ').trim();

test('Sensor page: newest value is far above the baseline: baseline, deviation and color of the deviation are shown next to it', async () => {
  // The page shows "As usual" only if the sensor is not silent.
  await dashboard.publish('collar-3', { sensor_id: 'belly', ts: Date.now(), value: 74 });
  await dashboard.visit('/devices/collar-3/sensors/belly');
  await until(async () => /^As usual: 7[345] ± 3 bpm$/.test(await usualText()), { what: 'what is usual' });
  await dashboard.publish('collar-3', { sensor_id: 'belly', ts: Date.now() + 1000, value: 140 });
  await baseline().getByText('Far above its usual').waitFor();
  await until(async () => /^Far above its usual 7[345] ± 3 bpm, by 6[567]$/.test(await usualText()), {
    what: 'the deviation',
  });
  await baseline().locator('.swatch[data-cell-state="10"]').waitFor();
  await dashboard.lookAt('sensor-far-off');
});

test('Sensor page and device page: connection to the API is lost: a note shows the time of the values until recovery', async () => {
  await dashboard.publish('collar-4', { sensor_id: 'neck', ts: Date.now(), value: 74 });
  const gate = await startGate(dashboard.system.httpUrl);
  afterwards(() => gate.stop());
  const lost = dashboard.page.locator('.verdict-line').getByText('The values are from');
  await dashboard.page.goto(`${gate.url}/devices/collar-4`);
  await dashboard.page.getByRole('link', { name: 'neck' }).first().click();
  await dashboard.page.locator('.connection[data-status="live"]').waitFor();
  await baseline().getByText('As usual').waitFor();
  expect(await lost.count()).toBe(0);

  dashboard.expectComplaints(/^Failed to load resource: net::ERR_/);
  gate.cut('silence');
  await lost.waitFor();
  expect(await lost.textContent()).toMatch(/\d\d:\d\d:\d\d\.$/);
  await dashboard.page.locator('[data-stale="true"] > .now').waitFor();
  await dashboard.page
    .getByRole('region', { name: 'Chart', exact: true })
    .and(dashboard.page.locator('[data-stale="true"]'))
    .waitFor();
  await dashboard.lookAt('sensor-cut-off');
  await dashboard.page.getByRole('link', { name: 'collar-4' }).click();
  await lost.waitFor();
  await gate.open();
  await lost.waitFor({ state: 'detached' });
});
