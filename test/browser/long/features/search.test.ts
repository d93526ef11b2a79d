import { describe, expect, test } from '@jest/globals';
import { publishSmallFleet, SENSORS } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

const options = () => dashboard.page.getByRole('option');
const field = () => dashboard.page.getByRole('combobox', { name: 'Site, device, sensor or page' });

/** Opens the search, and waits until its field has the focus. */
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

  test('Search: the beginning of the name of a page is typed: Enter opens the page', async () => {
    await dashboard.visit('/');
    await dashboard.page.getByRole('button', { name: 'Search' }).waitFor();
    await openByKey('/');
    await dashboard.page.keyboard.type('imp');
    await dashboard.page.getByRole('option', { name: 'Page Import' }).waitFor();
    await dashboard.page.keyboard.press('Enter');
    await dashboard.page.getByRole('heading', { level: 1, name: 'Import' }).waitFor();
  });

  test('Search: opened by Ctrl+K, part of a site name is typed: sites are found, and a chosen site filters the fleet page', async () => {
    await dashboard.visit('/pipeline');
    await dashboard.page.getByRole('button', { name: 'Search' }).waitFor();
    await openByKey('Control+k');
    await dashboard.page.keyboard.type('meadow');
    await options().nth(0).filter({ hasText: 'North Meadow' }).waitFor();
    await options().nth(1).filter({ hasText: 'South Meadow' }).waitFor();
    await dashboard.page.keyboard.press('ArrowDown');
    await dashboard.page
      .locator('[role=option][aria-selected=true]')
      .filter({ hasText: 'South Meadow' })
      .waitFor();
    await dashboard.page.keyboard.press('Enter');
    await dashboard.untilRows(2 * SENSORS.length);
    expect(new URL(dashboard.page.url()).search).toBe('?site=South%20Meadow');
  });

  test('Search: Escape closes the search and restores the focus; a slash typed in another field does not open the search', async () => {
    await dashboard.visit('/');
    await dashboard.untilRows(25);
    const button = dashboard.page.getByRole('button', { name: 'Search' });
    await button.press('Enter');
    await dashboard.untilFocused(field());
    await field().fill('collar');
    await until(async () => (await options().count()) > 1, { what: 'results' });
    await dashboard.lookAt('search');
    await dashboard.page.keyboard.press('Escape');
    await field().waitFor({ state: 'detached' });
    await dashboard.untilFocused(button);
    await dashboard.page.getByLabel('Name', { exact: true }).press('/');
    expect(await field().count()).toBe(0);
  });
});

describe('Range', () => {
  test('Chart range form: relative times are typed, then Tokyo is chosen as time zone: the range is shown in UTC+9', async () => {
    await dashboard.open({ timezoneId: 'UTC' });
    await dashboard.visit('/devices/collar-1/sensors/ear');
    await dashboard.page.getByRole('button', { name: 'Dates…' }).click();
    const form = dashboard.page.getByRole('form', { name: 'Before now' });
    await form.getByLabel('Start').fill('1 hour');
    await form.getByRole('button', { name: 'Show' }).click();
    await form
      .getByRole('alert')
      .getByText(/^Write times such as/)
      .waitFor();
    await form.getByLabel('Start').fill('-2h');
    await form.getByLabel('End').fill('-1h');
    await form.getByRole('button', { name: 'Show' }).click();
    await dashboard.page.getByRole('button', { name: 'Back to now' }).waitFor();
    await dashboard.page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await dashboard.page.locator('.window-note').getByText('UTC+9').waitFor();
    await dashboard.openDisplayMenu();
    await dashboard.page
      .getByRole('radio', { name: 'Tokyo' })
      .and(dashboard.page.locator(':checked'))
      .waitFor();
    await dashboard.page.keyboard.press('Escape');
    await dashboard.lookAt('range-before-now');
  });
});
