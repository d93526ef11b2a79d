import { describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const PAGE_ROWS = 25;
const SITES = ['North Meadow', 'South Meadow', 'Barn'];
const DEVICES = 40;

/** Every fifth device is offline. */
const stateOf = (number: number) => (number % 5 === 0 ? 'offline' : 'online');

const dashboard = useDashboard({
  async fill({ announce, client }) {
    for (let number = 1; number <= DEVICES; number += 1) {
      const name = `collar-${number}`;
      const session = Date.now();
      await announce(name, { session, site: SITES[number % 3], sensors: [{ sensor_id: 'neck' }] });
      const status = JSON.stringify({ state: stateOf(number), session });
      await client.publishAsync(`iot/v1/${name}/status`, status, { qos: 1 });
    }
  },
});

const rows = () => dashboard.page.locator('table.devices tbody tr:not(.waiting)');
const names = (): Promise<string[]> => rows().locator('a.row-link').allTextContents();
const untilDevices = (count: number) =>
  until(async () => (await rows().count()) === count, { what: `${count} devices` });
const byName = (all: string[]) => all.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));

describe('Devices', () => {
  test('Device list: 40 devices: shown on two pages in order of name, each with its state as text', async () => {
    await dashboard.visit('/');
    await dashboard.page.getByRole('link', { name: 'Devices', exact: true }).click();
    await untilDevices(PAGE_ROWS);
    expect(new URL(dashboard.page.url()).search).toBe('?show=devices');
    await dashboard.page.getByText('Live', { exact: true }).waitFor();
    const first = await names();
    const collar = rows()
      .filter({ hasText: first[0] ?? '' })
      .first();
    expect(await collar.locator('.state').textContent()).toBe(
      stateOf(Number(first[0]?.slice(7))) === 'online' ? 'Online' : 'Offline',
    );
    expect(await collar.locator('.age').textContent()).toMatch(/^\s*(now|\d+ (s|min))\s*$/);

    await dashboard.page.getByRole('button', { name: 'Next' }).click();
    await untilDevices(DEVICES - PAGE_ROWS);
    expect(new Set([...first, ...(await names())]).size).toBe(DEVICES);
    await dashboard.page.getByText(`${PAGE_ROWS + 1} to ${DEVICES} of ${DEVICES} devices`).waitFor();
    expect([...first, ...(await names())]).toEqual(byName([...first, ...(await names())]));
  });

  test('Device list: click or Enter on a column head: devices of all pages are sorted by that column', async () => {
    await dashboard.visit('/?show=devices');
    await untilDevices(PAGE_ROWS);
    const up = await names();
    expect(up).toEqual(byName(up));
    const head = dashboard.page.getByRole('columnheader', { name: 'Device' });
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await head.getByRole('button').press('Enter');
    await until(async () => (await head.getAttribute('aria-sort')) === 'descending');
    await until(async () => (await names())[0] !== up[0], { what: 'the rows in this order' });
    // Sorting covers all pages, so the last devices come first.
    const down = await names();
    expect(down).toEqual(byName(down).toReversed());
    expect(down.filter((name) => up.includes(name))).toHaveLength(2 * PAGE_ROWS - DEVICES);
    await dashboard.page.reload();
    await untilDevices(PAGE_ROWS);
    expect(await names()).toEqual(down);
    await dashboard.page.getByRole('button', { name: 'State' }).click();
    const offline = DEVICES / 5;
    await until(async () => (await rows().locator('.state').allTextContents())[offline - 1] === 'Offline', {
      what: 'devices that are offline first',
    });
    const states = await rows().locator('.state').allTextContents();
    expect(states.lastIndexOf('Offline')).toBe(offline - 1);
  });
});
