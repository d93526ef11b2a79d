import { expect, jest, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

jest.setTimeout(300_000);

const RULE_ID = '3f2a1c00-c6a1-41f0-8000-0123456789ab';
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

test('Alarm rule form: opened from the chart of a sensor: a link leads back to that chart', async () => {
  const { page } = dashboard;
  await dashboard.visit('/devices/freezer/sensors/temperature');
  await page.getByRole('link', { name: 'Set an alarm' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.getByRole('link', { name: 'Back to the chart of freezer · temperature' }).click();
  await page.getByRole('heading', { name: 'temperature' }).waitFor();
  await dashboard.lookAt('sensor-thresholds');
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

test('Alarms page: the user chose °F: limits and peaks are shown in °F, and the rule is stored in °C', async () => {
  const { page } = dashboard;
  await dashboard.visit('/devices/freezer/sensors/temperature');
  await page.getByLabel('Unit').selectOption('°F');
  await page.getByRole('link', { name: 'Set an alarm' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.getByLabel('Clears at, °F').fill('5');
  await form.getByText('Millrace stores limits in °C, the unit that the sensor sends.').waitFor();
  await form.getByLabel('Limit, °F').fill('14');
  // A backtest under way would be aborted when the form closes.
  await form.locator('.backtest').waitFor();
  await form.getByLabel('Name').fill('Too warm in Fahrenheit');
  await dashboard.lookAt('alarms-fahrenheit');
  await form.getByRole('button', { name: 'Save the rule' }).click();
  await form.waitFor({ state: 'detached' });
  const rule = page.locator('#rules tbody tr').filter({ hasText: 'Too warm in Fahrenheit' });
  await rule.filter({ hasText: 'above 14 °F, clears at 5 °F' }).waitFor();
  const { items } = await (await fetch(`${dashboard.system.httpUrl}/api/v1/alarm-rules`)).json();
  const stored = items.find(({ name }: { name: string }) => name === 'Too warm in Fahrenheit');
  expect(stored.condition).toEqual({ kind: 'above', limit: -10, clear: -15 });
  await dashboard.publish('freezer', { sensor_id: 'temperature', ts: Date.now(), value: -5 });
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await rows().filter({ hasText: 'Too warm in Fahrenheit' }).filter({ hasText: '23 °F' }).waitFor();
});

test('Alarm rule form: the user types another sensor: Save is disabled until the unit of that sensor is known', async () => {
  const { page } = dashboard;
  // Until both fields are filled in, they name no existing sensor.
  dashboard.expectComplaints(/status of 404/);
  await dashboard.announce('boiler', { sensors: [{ sensor_id: 'pressure', unit: 'Pa' }] });
  await dashboard.publish('boiler', { sensor_id: 'pressure', ts: Date.now(), value: 80_000 });
  let release = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(null);
  });
  await page.route('**/devices/boiler/sensors/pressure', async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  await dashboard.visit('/devices/freezer/sensors/temperature');
  await page.getByLabel('Unit').selectOption('°F');
  await page.getByRole('link', { name: 'Set an alarm' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.getByLabel('Limit, °F').fill('14');
  await form.getByLabel('Name').fill('Pressure too high');
  const save = form.getByRole('button', { name: 'Save the rule' });
  await until(() => save.isEnabled(), { what: 'a rule that can be saved' });
  await form.getByLabel('Device').fill('boiler');
  const asked = page.waitForRequest('**/devices/boiler/sensors/pressure');
  await form.getByLabel('Sensor', { exact: true }).fill('pressure');
  await asked;
  expect(await save.isDisabled()).toBe(true);
  release();
  await form.getByLabel('Limit, Pa').waitFor();
  await until(() => save.isEnabled(), { what: 'a rule that can be saved' });
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

test('Alarm rule form: double click on Save: one rule is created', async () => {
  const { page } = dashboard;
  let saves = 0;
  let release = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(null);
  });
  await page.route('**/api/v1/alarm-rules', async (route) => {
    if (route.request().method() === 'POST') {
      saves += 1;
      await released;
    }
    await route.continue();
  });
  await dashboard.visit('/alarms');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.getByLabel('Site').fill('Attic');
  await form.getByLabel('Limit').fill('30');
  // A backtest under way would be aborted when the form closes.
  await form.locator('.backtest').waitFor();
  await form.getByLabel('Name').fill('Attic too warm');
  await form.getByRole('button', { name: 'Save the rule' }).dblclick();
  release();
  await form.waitFor({ state: 'detached' });
  await page.locator('#rules tbody tr').filter({ hasText: 'Attic too warm' }).first().waitFor();
  expect(saves).toBe(1);
});

test('Sensor page: more alarms exist than the page reads: a note names the time before which alarms are not drawn', async () => {
  const { page, system } = dashboard;
  const { device_id, sensors } = await system.get('/devices/freezer');
  const alarm = {
    ...{
      alarm_id: 'a',
      rule_id: RULE_ID,
      rule: 'Too warm',
      severity: 'info',
      condition: 'above',
      text: null,
    },
    ...{ device_id, device: 'freezer', sensor_id: sensors[0].sensor_id, sensor: 'temperature', site: null },
    ...{ started_at: new Date(Date.now() - MINUTE_MS).toISOString(), cleared_at: new Date().toISOString() },
    ...{ opened_at: new Date().toISOString(), peak: 1, unit: 'Cel', state: 'cleared', seen_late: false },
    ...{ acknowledged_at: null, acknowledged_by: null, comment: null, shelved_until: null },
  };
  await page.route(/\/api\/v1\/alarms\?.*sensor=/, (route) =>
    route.fulfill({ json: { items: [alarm], next: 'older' } }),
  );
  await dashboard.visit('/devices/freezer/sensors/temperature');
  await page.getByText(/^Alarms that began before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d are not drawn\.$/).waitFor();
});

test('Device page and device list: more alarms are open than the pages read: a note shows that more than 1,000 are open', async () => {
  const { page } = dashboard;
  await page.route(/\/api\/v1\/alarms\?.*state=open/, (route) =>
    route.fulfill({ json: { items: [], next: 'older' } }),
  );
  await dashboard.visit('/devices/freezer');
  const line = page.getByText('More than 1,000 alarms are open.');
  await line.waitFor();
  await page.locator('.navigation-count[data-critical="true"]').filter({ hasText: '0+' }).waitFor();
  await dashboard.expectAccessible();
  await dashboard.visit('/?show=devices');
  await line.waitFor();
});

test('Alarm rule form: the backtest of a new limit fails: the figures of the earlier limit disappear', async () => {
  dashboard.expectComplaints(/status of 503/);
  const { page } = dashboard;
  await dashboard.visit('/alarms');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.getByLabel('Device').fill('freezer');
  await form.getByLabel('Limit').fill('-15');
  const figures = form.locator('.backtest');
  await figures
    .getByText(/^\d+ alarms?$/)
    .first()
    .waitFor();
  const problem = { title: 'Service Unavailable', status: 503, code: 'unavailable', detail: '-' };
  const body = JSON.stringify({ type: 'about:blank', ...problem });
  await page.route('**/alarm-rules/test', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body }),
  );
  await form.getByLabel('Limit').fill('-12');
  await form.getByRole('alert').getByText('The database does not answer.').waitFor();
  expect(await figures.count()).toBe(0);
});

test('Alarm rule form: Enter on a suggested limit: the button keeps the focus, and ignores Enter until the backtest ends', async () => {
  const { page } = dashboard;
  const from = new Date(Date.now() - 60 * MINUTE_MS).toISOString();
  const to = new Date().toISOString();
  const answer = {
    ...{ from, to, stored_from: from, stored_to: to, count: 4, sensors: 1, partial: false },
    ...{ without_interval: 0, total_ms: 0, items: [], more_alarms: null },
  };
  let release = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(null);
  });
  const tested: number[] = [];
  await page.route('**/alarm-rules/test', async (route) => {
    const { limit } = route.request().postDataJSON().condition;
    tested.push(limit);
    if (limit > -15) await released;
    await route.fulfill({ json: { ...answer, fewer_alarms: { limit: limit + 1, count: 2 } } });
  });
  await dashboard.visit('/alarms');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const form = page.getByRole('dialog', { name: 'A new rule' });
  await form.getByLabel('Device').fill('freezer');
  await form.getByLabel('Limit').fill('-15');
  const suggestion = form.getByRole('button', { name: /^Fewer alarms/ });
  await suggestion.focus();
  await page.keyboard.press('Enter');
  await form.locator('.backtest[aria-busy="true"]').waitFor();
  await until(async () => tested.includes(-14), { what: 'the test of the limit' });
  await page.keyboard.press('Enter');
  release();
  await form.locator('.backtest[aria-busy="false"]').waitFor();
  await dashboard.untilFocused(suggestion);
  expect(await form.getByLabel('Limit').inputValue()).toBe('-14');
});

test('Alarms page: arrow key in the theme choice of the header: the next theme applies, and the choice keeps the focus', async () => {
  const { page } = dashboard;
  await dashboard.visit('/alarms?state=all');
  await rows().first().waitFor();
  await dashboard.openDisplayMenu();
  const theme = page.getByRole('group', { name: 'Theme' });
  await theme.getByRole('radio', { name: 'As the system' }).focus();
  await page.keyboard.press('ArrowDown');
  await dashboard.untilFocused(theme.getByRole('radio', { name: 'Light', exact: true }));
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light');
});

test('Alarms page: the browser cannot show notifications: the check box Notifications stays empty, and a text names the reason', async () => {
  const { page } = dashboard;
  // Browsers on Android throw this error.
  await page.addInitScript(() => {
    class Notification {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor() {
        throw new TypeError('Illegal constructor');
      }
    }
    Object.assign(window, { Notification });
  });
  await dashboard.visit('/alarms');
  const box = page.getByRole('checkbox', { name: 'Notifications' });
  await box.click();
  await page.getByText('This browser shows no notifications of this page.').waitFor();
  expect(await box.isChecked()).toBe(false);
  await dashboard.lookAt('alarms-no-notifications');
});

test('Alarms page: the browser denies access to storage: the check box Sound stays checked until the page is closed', async () => {
  const { page } = dashboard;
  await page.addInitScript(() => {
    const forbidden = {
      get() {
        throw new DOMException('Access is denied for this document.', 'SecurityError');
      },
    };
    Object.defineProperties(window, { localStorage: forbidden, sessionStorage: forbidden });
  });
  await dashboard.visit('/alarms');
  const box = page.getByRole('checkbox', { name: 'Sound' });
  await box.check();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Pipeline' }).click();
  await page.getByRole('heading', { name: 'Pipeline', exact: true }).waitFor();
  await page.goBack();
  await box.waitFor();
  expect(await box.isChecked()).toBe(true);
});
