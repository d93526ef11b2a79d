import { describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEVICES, publishSmallFleet, SENSORS } from '../support/simulator/small-fleet.ts';
import { useDashboard } from '../support/web/dashboard.ts';

const PAGE_ROWS = 25;

const dashboard = useDashboard({ fill: publishSmallFleet });

const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';
const shown = (): Promise<string[]> =>
  dashboard
    .rows()
    .locator('a.row-link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

describe('Fleet', () => {
  test('Fleet view: opened: the latest value of each sensor is shown', async () => {
    await dashboard.visit('/');
    await dashboard.untilRows(PAGE_ROWS);
    await dashboard.page
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    const row = dashboard.rows().first();
    expect(await textOf(row.locator('.value'))).toMatch(/^\d+(\.\d+)?\s*(°C|bpm)$/);
    expect(await textOf(row.locator('.age'))).toMatch(/^(now|\d+ (s|min))$/);
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
});
