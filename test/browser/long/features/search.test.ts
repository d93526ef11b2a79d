import { describe, expect, test } from '@jest/globals';
import { publishSmallFleet } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

const options = () => dashboard.page.getByRole('option');
const field = () => dashboard.page.getByRole('combobox', { name: 'Site, device, sensor or page' });

async function openByKey(key: string) {
  await dashboard.page.keyboard.press(key);
  await dashboard.untilFocused(field());
}

describe('Search', () => {
  test('Search: opened by the slash key, parts of device and sensor name are typed: Enter opens the sensor page', async () => {
    await dashboard.visit('/');
    await dashboard.untilRows(25);
    await openByKey('/');
    await dashboard.page.keyboard.type('lar-3 bel');
    await until(async () => (await options().count()) === 1, { what: 'one result' });
    await dashboard.page.keyboard.press('Enter');
    await dashboard.page.getByRole('heading', { level: 1, name: 'belly' }).waitFor();
    expect(new URL(dashboard.page.url()).pathname).toBe('/devices/collar-3/sensors/belly');
    await dashboard.untilFocused(dashboard.page.locator('#main'));
  });
});
