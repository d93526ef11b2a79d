import { expect, jest, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.js';
import { useDashboard } from '../../support/dashboard.js';
import { publishSmallFleet, writeSmallFleetUsual } from '../../support/small-fleet.js';
import { startGate } from '../../support/tcp-gate.js';
import { until } from '../../support/until.js';

jest.setTimeout(60_000);

/** A silent connection is given up after 10 s. A busy machine gets twice that. */
const LOST = { timeout: 30_000 };

const dashboard = useDashboard({
  system: { periods: { baselines: 200 } },
  async fill(opened) {
    await publishSmallFleet(opened);
    await writeSmallFleetUsual(opened);
  },
});
const afterwards = useCleanUps();

const baseline = () => dashboard.page.locator('.baseline');
const usualText = async () => ((await baseline().textContent()) ?? '').replaceAll(/\s+/g, ' ').trim();

test('Sensor: next to its value: its baseline and the deviation, in the color of its cell', async () => {
  await dashboard.visit('/devices/collar-3/sensors/belly');
  await until(async () => /^As usual: 7[345] ± 3 bpm$/.test(await usualText()), { what: 'what is usual' });
  await dashboard.publish('collar-3', { sensor_id: 'belly', ts: Date.now() + 1000, value: 140 });
  await baseline().getByText('Far above its usual').waitFor();
  expect(await usualText()).toMatch(/^Far above its usual 7[345] ± 3 bpm, by 6[567]$/);
  expect(await baseline().locator('.swatch').getAttribute('data-cell-state')).toBe('10');
  await dashboard.lookAt('sensor-far-off');
});

test('Offline banner: connection lost: the time on sensor and device, until it is back', async () => {
  const gate = await startGate(dashboard.system.httpUrl);
  afterwards(() => gate.stop());
  const lost = dashboard.page.getByText('The connection is lost. The values are from');
  await dashboard.page.goto(`${gate.url}/devices/collar-4`);
  await dashboard.page.getByRole('link', { name: 'neck' }).first().click();
  await dashboard.page.locator('.connection[data-status="live"]').waitFor();
  await baseline().getByText('As usual').waitFor();
  expect(await lost.count()).toBe(0);

  gate.cut('silence');
  await lost.waitFor(LOST);
  expect(await lost.textContent()).toMatch(/\d\d:\d\d:\d\d\.$/);
  expect(await dashboard.page.locator('[data-stale="true"] > .now').count()).toBe(1);
  const chart = dashboard.page.getByRole('region', { name: 'Chart', exact: true });
  expect(await chart.getAttribute('data-stale')).toBe('true');
  await dashboard.lookAt('sensor-cut-off');
  await dashboard.page.getByRole('link', { name: 'collar-4' }).click();
  await lost.waitFor(LOST);
  await gate.open();
  await lost.waitFor({ state: 'detached', ...LOST });
  for (const complaint of dashboard.takeComplaints())
    expect(complaint).toMatch(/^Failed to load resource: net::ERR_/);
});
