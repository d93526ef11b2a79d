import { beforeEach, expect, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const SECONDS = 120;
const BEGIN = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;
const SENSOR = '/devices/my-desk/sensors/temperature';
const WINDOW = `?from=${at(0)}&to=${at(SECONDS)}`;

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
