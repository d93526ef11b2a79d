import { expect, jest, test } from '@jest/globals';
import { useCleanUps } from '../support/clean-ups.js';
import { useDashboard } from '../support/dashboard.js';
import { publishSmallFleet } from '../support/small-fleet.js';
import { startGate } from '../support/tcp-gate.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

/** A connection from which nothing comes is given up after 10 s; a busy machine has twice that. */
const LOST = { timeout: 30_000 };

const dashboard = useDashboard({ fill: publishSmallFleet });
const afterwards = useCleanUps();

const usual = () => dashboard.page.locator('.usual');
const usualText = async () => ((await usual().textContent()) ?? '').replaceAll(/\s+/g, ' ').trim();

test('beside its value a sensor says what is usual, and how far off that a new one is, as its cell on the wall is coloured', async () => {
  await dashboard.visit('/devices/collar-3/sensors/belly');
  await until(async () => /^As usual: 7[345] ± 3 bpm$/.test(await usualText()), { what: 'what is usual' });
  await dashboard.publish('collar-3', { sensor_id: 'belly', ts: Date.now() + 1000, value: 140 });
  await usual().getByText('Far above its usual').waitFor();
  expect(await usualText()).toMatch(/^Far above its usual 7[345] ± 3 bpm, by 6[567]$/);
  expect(await usual().locator('.swatch').getAttribute('data-look')).toBe('10');
  await dashboard.lookAt('sensor-far-off');
});

test('while the connection is lost the sensor and its device say since when, and that no more when it is back', async () => {
  const gate = await startGate(dashboard.system.httpUrl);
  afterwards(() => gate.stop());
  const lost = dashboard.page.getByText('The connection is lost. What follows is as it was at');
  await dashboard.page.goto(`${gate.url}/devices/collar-4`);
  await dashboard.page.getByRole('link', { name: 'neck' }).first().click();
  await dashboard.page.locator('.connection[data-status="live"]').waitFor();
  await usual().getByText('As usual').waitFor();
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
