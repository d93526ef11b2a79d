import { describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEVICES, publishSmallFleet, SENSORS } from '../support/simulator/small-fleet.ts';
import { until } from '../support/until.ts';
import { useDashboard } from '../support/web/dashboard.ts';

const PAGE_ROWS = 25;

const dashboard = useDashboard({ fill: publishSmallFleet });

const rowOf = (device: string, sensor: string) =>
  dashboard.rows().filter({ hasText: device }).filter({ hasText: sensor });
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

  test('Fleet view: a sensor sends a value over MQTT: the row of the sensor shows that value without a reload', async () => {
    await dashboard.visit('/?name=belly');
    await dashboard.untilRows(DEVICES.length);
    await dashboard.publish('collar-2', { sensor_id: 'belly', ts: Date.now() + 1000, value: 123 });
    await rowOf('collar-2', 'belly').getByText('123', { exact: true }).waitFor();
    expect(await textOf(rowOf('collar-3', 'belly'))).not.toContain('123');
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

  test('Fleet view: a click on the head of the sorted column: the order of the rows reverses, also after a reload', async () => {
    await dashboard.visit('/?type=temperature&name=ear');
    await dashboard.untilRows(DEVICES.length);
    const heads = dashboard.page.locator('table.sensors thead');
    await heads.getByRole('button', { name: 'Device' }).click();
    await heads
      .getByRole('columnheader', { name: 'Device', exact: false })
      .and(dashboard.page.locator('[aria-sort=descending]'))
      .waitFor();
    const isReversed = async () =>
      (await dashboard.rows().locator('.col-device').allTextContents()).join() ===
      DEVICES.toReversed().join();
    await until(isReversed, { what: 'the rows in this order' });
    await dashboard.page.reload();
    await until(isReversed, { what: 'the same order after a reload' });
  });

  test('Fleet view: the user scrolls to the sensor list: each row shows a sparkline of recent values', async () => {
    await dashboard.visit('/?name=ear');
    await dashboard.untilRows(DEVICES.length);
    await dashboard.rows().last().scrollIntoViewIfNeeded();
    await until(async () => (await dashboard.rows().locator('.sparkline-line').count()) === DEVICES.length, {
      what: 'lines',
    });
  });

  test('Fleet view: a new sensor sends its first value: the sensor appears in the list without a reload', async () => {
    await dashboard.visit('/?name=zq');
    await dashboard.page.getByRole('heading', { name: 'No sensor matches' }).waitFor();
    await dashboard.publish('collar-9', { sensor_id: 'zq-new', ts: Date.now(), value: 7 });
    await dashboard.untilRows(1);
  });

  test('Fleet view: name filter holds a part of a device name: all sensors of that device are listed', async () => {
    await dashboard.visit('/?name=LAR-2');
    await dashboard.untilRows(SENSORS.length);
    expect(new Set(await dashboard.rows().locator('.col-device').allTextContents())).toEqual(
      new Set(['collar-2']),
    );
  });

  test('Fleet view: filters for type and site: all types and sites of the fleet are offered, also those on other pages', async () => {
    const offered = (label: string) =>
      dashboard.page
        .getByLabel(label, { exact: true })
        .evaluate((field: HTMLInputElement) => [...(field.list?.options ?? [])].map(({ value }) => value));
    await dashboard.announce('tank-1', {
      site: 'Dairy',
      sensors: [{ sensor_id: 'a', name: 'a', type: 'level' }],
    });
    for (const path of ['/?name=belly', '/?show=devices&name=collar-1']) {
      await dashboard.visit(path);
      await until(async () => (await offered('Site')).join() === 'Dairy,North Meadow,South Meadow', {
        what: 'all sites',
      });
    }
    await dashboard.visit('/?name=belly');
    await until(async () => (await offered('Type')).join() === 'level,pulse,temperature', {
      what: 'all types',
    });
  });
});
