import { describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEVICES, publishSmallFleet, SENSORS } from '../support/simulator/small-fleet.ts';
import { useDashboard } from '../support/web/dashboard.ts';

const PAGE_ROWS = 25;

const dashboard = useDashboard({ fill: publishSmallFleet });

const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';
/** @returns the paths of the sensors on the page */
const shown = (): Promise<string[]> =>
  dashboard
    .rows()
    .locator('a.row-link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

describe('Fleet', () => {
  test('Fleet view: opened: the figures of the pipeline and the latest value of each sensor are shown', async () => {
    await dashboard.visit('/');
    await dashboard.untilRows(PAGE_ROWS);
    await dashboard.page
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    const row = dashboard.rows().first();
    expect(await textOf(row.locator('.value'))).toMatch(/^\d+(\.\d+)?\s*(°C|bpm)$/);
    expect(await textOf(row.locator('.age'))).toMatch(/^(now|\d+ (s|min))$/);
    await dashboard.page
      .getByLabel('The pipeline now')
      .filter({ hasText: /Samples stored\s*\d.*Time to commit.*ms p50.*Commit to screen.*Refused\s*0/s })
      .waitFor();
  });

  test('Fleet view: filters for type, site and part of a name: rows match, and the address keeps the filters', async () => {
    await dashboard.visit('/');
    await dashboard.untilRows(PAGE_ROWS);
    await dashboard.page.getByLabel('Type', { exact: true }).fill('pulse');
    await dashboard.untilRows((DEVICES.length * SENSORS.length) / 2);
    expect(new Set(await dashboard.rows().locator('.col-type').allTextContents())).toEqual(
      new Set(['pulse']),
    );

    await dashboard.page.getByLabel('Site', { exact: true }).fill('South Meadow');
    await dashboard.page.keyboard.press('Enter');
    await dashboard.untilRows((DEVICES.length * SENSORS.length) / 4);
    await dashboard.page.getByLabel('Name', { exact: true }).fill('ell');
    await dashboard.untilRows(2);
    expect(new URL(dashboard.page.url()).search).toBe('?type=pulse&site=South+Meadow&name=ell');
    await dashboard.page.reload();
    await dashboard.untilRows(2);

    await dashboard.page.getByLabel('Name', { exact: true }).fill('nobody');
    await dashboard.page.getByRole('heading', { name: 'No sensor matches' }).waitFor();
    await dashboard.page.getByRole('link', { name: 'Show all sensors' }).click();
    await dashboard.untilRows(PAGE_ROWS);
  });

  test('Fleet view: next page of the sensor list: the remaining rows are shown in order, also after a reload or Back', async () => {
    const rest = DEVICES.length * SENSORS.length - PAGE_ROWS;
    await dashboard.visit('/');
    await dashboard.untilRows(PAGE_ROWS);
    const first = await shown();
    expect(first.slice(0, 2)).toEqual([
      `/devices/collar-1/sensors/${SENSORS[0]}`,
      `/devices/collar-1/sensors/${SENSORS[1]}`,
    ]);
    await dashboard.page.getByRole('button', { name: 'Next' }).click();
    await dashboard.untilRows(rest);
    expect(new Set([...first, ...(await shown())]).size).toBe(PAGE_ROWS + rest);
    expect(await dashboard.rows().locator('.col-device').allTextContents()).toEqual(
      Array.from({ length: rest }, () => DEVICES.at(-1)),
    );
    expect(await dashboard.page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await dashboard.page.reload();
    await dashboard.untilRows(rest);
    await dashboard.page.getByRole('button', { name: 'Previous' }).click();
    await dashboard.untilRows(PAGE_ROWS);
    expect(await shown()).toEqual(first);
    await dashboard.page.goBack();
    await dashboard.untilRows(rest);
  });

  test('Fleet view: a new sensor sends its first value: the sensor appears in the list without a reload', async () => {
    await dashboard.visit('/?name=zq');
    await dashboard.page.getByRole('heading', { name: 'No sensor matches' }).waitFor();
    await dashboard.publish('collar-9', { sensor_id: 'zq-new', ts: Date.now(), value: 7 });
    await dashboard.untilRows(1);
  });
});
