import { expect, jest, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

jest.setTimeout(300_000);

const MINUTE_MS = 60_000;

const dashboard = useDashboard({
  system: { settings: { LATEST_GROUPS: '2' } },
  async fill(board) {
    await board.announce('freezer', {
      sensors: [{ sensor_id: 'temperature', name: 'temperature', type: 'temperature', unit: 'Cel' }],
    });
    const now = Date.now();
    await board.publish(
      'freezer',
      Array.from({ length: 120 }, (_, n) => ({
        sensor_id: 'temperature',
        ts: now - n * MINUTE_MS,
        value: -18 + (n % 30 > 24 ? 8 + (n % 3) : Math.sin(n)),
      })),
    );
  },
});

const rows = () => dashboard.page.locator('.alarm-table tbody tr');

test('Alarm rule: created from a sensor chart: the backtest counts past alarms; an alarm opens, is acknowledged, and clears', async () => {
  const { page } = dashboard;
  await dashboard.visit('/devices/freezer/sensors/temperature');
  await page.getByRole('link', { name: 'Set an alarm' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.waitFor();
  await form.getByLabel('Condition').selectOption('absent');
  await form.getByText('1 sensor has no interval').waitFor();
  expect(await form.locator('.rule-known').count()).toBe(0);
  await dashboard.lookAt('alarms-absent');
  await form.getByLabel('Condition').selectOption('above');
  await form.getByLabel('Limit, °C').fill('-15');
  await form.getByText('4 alarms', { exact: true }).waitFor();
  await form.getByText('in the 1 h 59 min that are stored').waitFor();
  const known = form.locator('.rule-known');
  await known.waitFor();
  await until(async () => (await known.textContent()) === 'Newest -18 °CLowest -19 °CHighest -8 °C', {
    what: 'the known values',
  });
  await form.getByLabel('Name').fill('Freezer too warm');
  await until(async () => (await form.locator('.backtest-bar').count()) === 4, {
    what: 'four past episodes',
  });
  await dashboard.lookAt('alarms-rule');
  await form.getByRole('button', { name: 'Save the rule' }).click();
  await form.waitFor({ state: 'detached' });
  await page.locator('#rules tbody tr').filter({ hasText: 'above -15 °C' }).waitFor();
  await dashboard.publish('freezer', { sensor_id: 'temperature', ts: Date.now(), value: -2 });
  await rows().filter({ hasText: 'Freezer too warm' }).filter({ hasText: '-2 °C' }).waitFor();
  const count = page.locator('.navigation-count').filter({ hasText: '1' });
  await count.waitFor();
  await dashboard.lookAt('alarms-open');
  await dashboard.visit('/');
  await page.locator('.wall-alarm').waitFor();
  const standsOut = page.getByRole('region', { name: 'What stands out' });
  await standsOut.getByRole('link', { name: 'Alarms 1' }).waitFor();
  await until(async () => (await standsOut.locator('.stands-out-none').count()) === 0, {
    what: 'a list without an all-clear',
  });
  await dashboard.lookAt('alarms-wall');
  await dashboard.visit('/devices/freezer');
  // From here to the acknowledgement, the user has a keyboard alone.
  await page.getByRole('link', { name: '▲ 1 alarm' }).press('Enter');
  await rows().first().waitFor();

  // The table may be visible before its key listener is attached.
  await until(
    async () => {
      await page.keyboard.press('j');
      return rows()
        .first()
        .evaluate((row) => row === document.activeElement);
    },
    { what: 'the focus on the first row' },
  );
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Acknowledge 1 alarm' });
  await dashboard.untilFocused(dialog.getByLabel('Comment, if you like'));
  await page.keyboard.type('The door was open');
  await page.keyboard.press('Tab');
  await dashboard.untilFocused(dialog.getByLabel('Your name'));
  await page.keyboard.type('Ada');
  await dashboard.lookAt('alarms-acknowledge');
  await page.keyboard.press('Enter');
  await page.getByText('1 alarm acknowledged.').waitFor();
  await count.waitFor({ state: 'detached' });
  await rows()
    .first()
    .filter({ hasText: /^acknowledged.*Ada: The door was open/ })
    .waitFor();
  await dashboard.lookAt('alarms-acknowledged');

  await dashboard.publish('freezer', { sensor_id: 'temperature', ts: Date.now(), value: -18 });
  await page.getByText('No alarm is open').waitFor();
  await page.getByRole('link', { name: 'Cleared' }).click();
  await rows().filter({ hasText: 'cleared' }).waitFor();

  await dashboard.visit('/devices/freezer/sensors/temperature');
  await until(async () => (await dashboard.paintedColors('.uplot canvas')) > 1, { what: 'the chart' });
  await page.getByText('Reading samples').first().waitFor({ state: 'hidden' });
  await dashboard.lookAt('alarms-chart');
});

test('Alarms page: a new alarm arrives: the focused row keeps the focus, and the key A acknowledges its alarm', async () => {
  const { page } = dashboard;
  const rule = {
    name: 'Cellar too warm',
    scope: { site: 'Cellar' },
    condition: { kind: 'above', limit: 20 },
    severity: 'warning',
  };
  const { status } = await fetch(`${dashboard.system.httpUrl}/api/v1/alarm-rules`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(rule),
  });
  expect(status).toBe(201);
  const warm = async (device: string) => {
    const sensors = [{ sensor_id: 'temperature', name: 'temperature', type: 'temperature', unit: 'Cel' }];
    await dashboard.announce(device, { site: 'Cellar', sensors });
    await dashboard.publish(device, { sensor_id: 'temperature', ts: Date.now(), value: 30 });
    await rows().filter({ hasText: device }).waitFor();
  };
  await dashboard.visit('/alarms');
  for (const device of ['cellar-1', 'cellar-2']) await warm(device);
  const focused = rows().filter({ hasText: 'cellar-1' });
  await focused.focus();
  await warm('cellar-3');
  await dashboard.untilFocused(focused);
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Acknowledge 1 alarm' });
  await dialog.getByText('cellar-1 · temperature').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});
