import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { useDirectory } from '../../../support/directory.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const SECONDS = 120;
const BEGIN = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;
const SENSOR = '/devices/my-desk/sensors/temperature';
const WINDOW = `?from=${at(0)}&to=${at(SECONDS)}`;

const directory = useDirectory('corrections');
const dashboard = useDashboard({
  async fill(dashboard) {
    const sensors = ['temperature', 'humidity'].map((name) => ({
      sensor_id: name,
      name,
      type: name,
      unit: name === 'humidity' ? '%RH' : 'Cel',
      interval_ms: 1000,
    }));
    await dashboard.announce('my-desk', { sensors });
    await dashboard.publish(
      'my-desk',
      Array.from({ length: SECONDS }, (_, second) => [
        {
          sensor_id: 'temperature',
          ts: BEGIN + second * 1000,
          value: second === 30 ? 100 : 21 + second / 100,
        },
        { sensor_id: 'humidity', ts: BEGIN + second * 1000, value: 40 },
      ]).flat(),
    );
  },
});

beforeEach(() => dashboard.open({ timezoneId: 'UTC', locale: 'en-US' }));

/** @returns time in ISO 8601 */
function at(second: number): string {
  return new Date(BEGIN + second * 1000).toISOString();
}

const button = (name: string | RegExp) => dashboard.page.getByRole('button', { name });
const dialog = (name: string) => dashboard.page.getByRole('dialog', { name });
const status = (text: string | RegExp) =>
  dashboard.page.getByRole('status').getByText(text).first().waitFor();

async function values(from: number = 0, to: number = SECONDS): Promise<number[]> {
  const range = `from=${at(from)}&to=${at(to)}&order=asc&limit=1000`;
  const { items } = await dashboard.system.get(`${SENSOR}/measurements?${range}`);
  return items.map(({ value }: { value: number }) => value);
}

async function openSensor() {
  await dashboard.visit(`${SENSOR}${WINDOW}`);
  await button('Correct values…').waitFor();
}

/** Fills the range of a dialog. */
async function fillRange(name: string, from: number, to: number) {
  await dialog(name).getByLabel(/^From/).fill(at(from).slice(0, 19));
  await dialog(name).getByLabel(/^To,/).fill(at(to).slice(0, 19));
}

test('Corrections: one value is replaced, a range removed: marks, a gap and the log show it, and Undo brings the values back', async () => {
  const { page } = dashboard;
  await dashboard.visit('/corrections');
  await page.getByRole('heading', { name: 'Nothing was corrected yet' }).waitFor();
  await dashboard.lookAt('corrections-none');

  await openSensor();
  await button('Correct values…').click();
  const correct = dialog('Correct values of my-desk');
  await correct.getByLabel(/^Time/).fill(at(30).slice(0, 23));
  await correct.getByText('100 °C', { exact: true }).waitFor();
  await correct.getByLabel('New value').fill('21.3');
  await correct.getByLabel(/^Reason/).fill('A lamp stood next to it.');
  await dashboard.lookAt('corrections-correct');
  await correct.getByRole('button', { name: 'Replace' }).click();
  await status('1 sample replaced.');
  expect(await values(29, 32)).toEqual([21.29, 21.3, 21.31]);
  const mark = button(/^Replaced 1 sample, .*: A lamp stood next to it\.$/);
  const text = page.locator('.chart-mark-text', { hasText: 'A lamp stood next to it.' });
  await mark.hover();
  await text.waitFor();
  await button('Correct values…').hover();
  await text.waitFor({ state: 'hidden' });
  await mark.focus();
  // Only a focus that a key has moved shows the text.
  for (const key of ['Shift+Tab', 'Tab']) await page.keyboard.press(key);
  await text.waitFor();

  await button('Remove values…').click();
  await fillRange('Remove values of my-desk', 50, 90);
  await dialog('Remove values of my-desk')
    .getByLabel(/^Reason/)
    .fill('On the bench');
  await button('Count').click();
  await dialog('Remove values of my-desk').getByText('40 samples').first().waitFor();
  await dashboard.lookAt('corrections-remove');
  await button('Remove 40 samples').click();
  await status('40 samples removed.');
  expect(await values()).toHaveLength(SECONDS - 40);
  await button(/^Removed 40 samples, .*: On the bench$/).waitFor();
  await page.getByRole('rowheader', { name: 'Replaced 1 sample' }).waitFor();
  await until(
    async () =>
      (await page
        .locator('time')
        .filter({ hasText: at(70).slice(11, 19) })
        .count()) === 0,
    {
      what: 'the table of samples without those that were removed',
    },
  );
  await dashboard.lookAt('corrections-sensor');

  await page.getByRole('link', { name: 'Log of my-desk' }).click();
  await page.getByRole('heading', { level: 1, name: 'Corrections' }).waitFor();
  const row = page.locator('table.corrections tbody tr', { hasText: 'Removed 40 samples' });
  await row.getByText('temperature').first().waitFor();
  await dashboard.lookAt('corrections-log');
  await row.getByRole('button', { name: /^Undo/ }).click();
  await dialog('Undo this correction?')
    .getByLabel(/^Reason/)
    .fill('It was measured after all');
  await dashboard.lookAt('corrections-undo');
  await dialog('Undo this correction?').getByRole('button', { name: 'Undo' }).click();
  await status('Removed 40 samples: undone.');
  await row.getByText('Undone', { exact: true }).waitFor();
  await page.getByText('It was measured after all').waitFor();
  expect(await values()).toHaveLength(SECONDS);
  await row.getByRole('link', { name: new RegExp(at(50).slice(11, 19)) }).click();
  await button(/^Replaced 1 sample/).waitFor();
  expect(await button(/^Removed 40 samples/).count()).toBe(0);
});

test('Correction by a factor: the answer to a part is lost: Continue sends the same values, so none is multiplied twice', async () => {
  const { page } = dashboard;
  dashboard.expectComplaints(/net::ERR_FAILED/);
  const before = await values(0, 20);
  await openSensor();
  await button('Correct values…').click();
  const correct = dialog('Correct values of my-desk');
  await correct.getByLabel('What to do').selectOption('multiply');
  await fillRange('Correct values of my-desk', 0, 20);
  await correct.getByLabel('Multiply by').fill('1.5');
  await button('Count').click();
  await correct.getByText('The first, 21, becomes 31.5 °C').waitFor();
  await dashboard.lookAt('corrections-multiply');
  await page.route('**/api/v1/corrections?*', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.abort();
  });
  await button('Correct 20 values').click();
  await status(/The API cannot be reached/);
  await dashboard.lookAt('corrections-stopped');
  expect(await button('Correct values…').isDisabled()).toBe(true);
  await page.unroute('**/api/v1/corrections?*');
  await button('Continue').click();
  await status('20 samples replaced.');
  expect(await values(0, 20)).toEqual(before.map((value) => Number((value * 1.5).toPrecision(15))));

  await button('Correct values…').click();
  await correct.getByLabel('What to do').selectOption('add');
  await fillRange('Correct values of my-desk', 0, 20);
  await correct.getByLabel(/^Add, in °C/).fill('1');
  await button('Count').click();
  await correct.getByText('Values of this range were corrected before').waitFor();
});

test('Undo on two pages at once: the second page reports that somebody was faster', async () => {
  const { page } = dashboard;
  const range = `from=${at(110)}&to=${at(112)}`;
  await fetch(`${dashboard.system.httpUrl}/api/v1/measurements?device=my-desk&sensor=humidity&${range}`, {
    method: 'DELETE',
  });
  const other = await page.context().newPage();
  const undo = { name: 'Undo… Removed 2 samples' };
  const confirm = { name: 'Undo', exact: true };
  for (const each of [page, other]) {
    await each.goto(`${dashboard.system.httpUrl}/corrections?device=my-desk`);
    await each.getByRole('button', undo).click();
  }
  await other.getByRole('button', confirm).click();
  await other.getByRole('status').getByText('Removed 2 samples: undone.').waitFor();
  await page.getByRole('button', confirm).click();
  await page.getByRole('alert').getByText('Somebody has undone it already').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', undo).waitFor({ state: 'detached' });
  const { items } = await dashboard.system.get('/corrections?device=my-desk&limit=2');
  expect(items.map(({ kind }: { kind: string }) => kind)).toEqual(['undo', 'remove']);
});

test('Removal on the page of a device: of all sensors, in the repeated hour of autumn: the offset is chosen', async () => {
  await dashboard.open({ timezoneId: 'Europe/Berlin', locale: 'en-US' });
  await dashboard.visit(`/devices/my-desk${WINDOW}`);
  await button('Remove values…').click();
  const remove = dialog('Remove values of my-desk');
  await remove.getByLabel(/^From/).fill('2026-10-25T02:30:00');
  await remove.getByLabel('The clock shows this time twice').selectOption('UTC+1');
  await remove.getByLabel('From, UTC+1').waitFor();
  await remove.getByLabel(/^To,/).fill('2026-10-25T02:10:00');
  await remove.getByText('From has to be before to.').waitFor();
  await dashboard.lookAt('corrections-autumn');
  await remove.getByLabel(/^To,/).fill('2026-10-25T03:10:00');
  await button('Count').click();
  await remove.getByText('No sample is stored in this range.').waitFor();
  expect(
    await button('Count')
      .or(button(/^Remove 0/))
      .isDisabled(),
  ).toBe(true);
});

test('Import page: Replace values that exist: the values of the file replace those that are stored', async () => {
  const { page } = dashboard;
  const file = join(directory, 'corrected.csv');
  writeFileSync(file, `ts,temperature\n${at(100)},-7\n`);
  await dashboard.visit('/import');
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('Device', { exact: true }).fill('my-desk');
  await page.getByLabel('Replace values that exist').check();
  await dashboard.lookAt('import-replace');
  await button('Import').click();
  await page.getByText('1 sample stored').waitFor();
  expect(await values(100, 101)).toEqual([-7]);
  await dashboard.visit('/corrections?device=my-desk');
  await page.getByRole('cell', { name: 'import' }).first().waitFor();
});
