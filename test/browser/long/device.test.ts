import { describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import type { Locator } from 'playwright-core';
import { WatchedTime } from '../../../api/observability/watched-time.ts';
import { createRecordedDevices, SENSORS } from '../../support/simulator/recorded-devices.ts';
import type { TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const recorded = createRecordedDevices();
const dashboard = useDashboard({
  system: { clock: recorded.clock },
  async fill(dashboard) {
    await recorded.fill(dashboard);
    await recordWatched(dashboard.system);
  },
});

const MINUTE_MS = 60_000;

/** Records that no ingest process watched from 20 to 17 minutes ago. */
async function recordWatched(system: TestSystem) {
  const store = await system.openStore();
  const now = recorded.clock();
  for (const [from, to] of [
    [90, 20],
    [17, 0],
  ] as const) {
    const watchedTime = new WatchedTime({
      store: store.watchedTime,
      watches: () => true,
      everyMs: 90 * MINUTE_MS,
    });
    await watchedTime.extend('another', now - from * MINUTE_MS);
    await watchedTime.extend('another', now - to * MINUTE_MS);
  }
}

const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';
const facts = () => dashboard.page.locator('.facts');
const events = (): Promise<string[]> => dashboard.page.locator('table.events .event').allTextContents();
const dialog = () => dashboard.page.getByRole('dialog');

/** Connects a device whose MQTT last will reports its disconnect. */
async function connect(name: string) {
  const session = Date.now();
  const topic = `iot/v1/${name}/status`;
  const status = (state: string) => JSON.stringify({ state, session });
  const client = await mqtt.connectAsync(dashboard.system.mqttUrl, {
    reconnectPeriod: 0,
    will: { topic, payload: Buffer.from(status('offline')), qos: 1, retain: true },
  });
  await client.publishAsync(topic, status('online'), { qos: 1, retain: true });
  // The connection breaks without DISCONNECT, so the broker publishes the last will.
  return { die: () => client.endAsync(true) };
}

test('Device page: opened: sensors, state and site are shown, and a new value appears without a reload', async () => {
  await dashboard.visit('/devices/hive-3');
  await dashboard.untilRows(SENSORS.length);
  await dashboard.page.getByRole('heading', { name: 'hive-3', level: 1 }).waitFor();
  await facts()
    .filter({ hasText: /Online.*Orchard.*8 sensors.*last seen.*registered\s*\d{4}-\d\d-\d\d/s })
    .waitFor();
  await dashboard.publish('hive-3', { sensor_id: 'brood', ts: Date.now() + 1000, value: 41.25 });
  await dashboard.rows().filter({ hasText: 'brood' }).getByText('41.25').waitFor();
});

describe('Signals', () => {
  const charts = () => dashboard.page.locator('.signal .chart');
  const words = () => dashboard.page.locator('.signal-text');
  /** @param sensor name; the text next to its chart is read */
  const wordsOf = (sensor: string) => textOf(words().filter({ hasText: sensor }));
  const untilDrawn = async () => {
    await until(
      async () => (await dashboard.page.locator('.signal-chart[aria-busy="false"] canvas').count()) > 2,
      {
        what: 'charts',
      },
    );
  };

  test('Device charts: mouse over one chart: each chart shows its value at that time, or no sample in a gap', async () => {
    await dashboard.visit('/devices/hive-1?range=1h');
    await untilDrawn();
    const now = await wordsOf('brood');
    const box = await charts().nth(2).boundingBox();
    if (!box) throw new Error('no chart');
    // The mouse points at 27 minutes ago. The device was online then, and its sensor lid had a gap.
    const at = (minutes: number) =>
      box.x + 72 + (box.width - 72 - 32) * (1 - (minutes + recorded.age()) / 60);
    await dashboard.page.mouse.move(at(27), box.y + 50);
    await until(async () => (await wordsOf('lid')).endsWith('no sample here'), { what: 'the gap' });
    expect(await wordsOf('brood')).toMatch(/brood\s*3[45]\.?\d*\s*°C/);
    expect(await textOf(words().first())).toMatch(/^\s*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*Online for [23] min/);
    await dashboard.page.mouse.move(at(12), box.y + 50);
    await until(async () => (await textOf(words().first())).includes('Offline'), { what: 'the state then' });
    expect(await wordsOf('lid')).toMatch(/°C/);
    await dashboard.page.mouse.move(2, 2);
    await until(async () => (await wordsOf('brood')).slice(0, 9) === now.slice(0, 9), {
      what: 'the newest value',
    });
    await words().first().getByText('Online now').waitFor();
  });
});

test('Device page: the device disconnects and reconnects: Offline and Online are listed as events without a reload', async () => {
  await dashboard.announce('hive-9', { sensors: [{ sensor_id: 'brood' }] });
  const first = await connect('hive-9');
  await dashboard.visit('/devices/hive-9');
  await until(async () => (await events()).join() === 'Online,Birth', { what: 'the first session' });
  await facts().getByText('Online').first().waitFor();
  const onlineFor = dashboard.page.locator('table.events td.number').first();
  await onlineFor.filter({ hasText: /^\s*\d+ \w+( \d+ \w+)? so far\s*$/ }).waitFor();

  await first.die();
  await until(async () => (await events()).join() === 'Offline,Online,Birth', { what: 'its end' });
  await facts().getByText('Offline').first().waitFor();
  await onlineFor.filter({ hasText: /^\s*\d+ \w+( \d+ \w+)?\s*$/ }).waitFor();

  const second = await connect('hive-9');
  await until(async () => (await events()).join() === 'Online,Offline,Online,Birth', { what: 'its return' });
  await second.die();
});

describe('Retirement', () => {
  test('Device retirement: keyboard only: two dialogs can be canceled, and typing the device name confirms', async () => {
    await dashboard.announce('hive 7', { site: 'Orchard', sensors: [{ sensor_id: 'brood' }] });
    await dashboard.visit('/devices/hive%207');
    const { page } = dashboard;
    const retire = page.getByRole('button', { name: 'Retire…' });

    // Escape cancels the first question, and the focus returns.
    await retire.press('Enter');
    await dialog().getByText('gone from all pages').waitFor();
    await dashboard.expectAccessible();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await dashboard.untilFocused(retire);

    // The Cancel button at the second question keeps the device.
    await retire.press('Enter');
    await dialog().getByRole('button', { name: 'Continue' }).press('Enter');
    const field = dialog().getByRole('textbox');
    await dashboard.untilFocused(field);
    await dialog().getByRole('button', { name: 'Cancel' }).press('Enter');
    await dialog().waitFor({ state: 'detached' });
    expect((await dashboard.system.fetch('/devices/hive%207')).status).toBe(200);

    // The focus stays inside the dialog, and another name has no effect.
    await retire.press('Enter');
    await dashboard.untilFocused(dialog().getByRole('button', { name: 'Cancel' }));
    await page.keyboard.press('Tab');
    await dashboard.untilFocused(dialog().getByRole('button', { name: 'Continue' }));
    await page.keyboard.press('Enter');
    await dashboard.untilFocused(field);
    await page.keyboard.type('hive 8');
    await page.keyboard.press('Enter');
    expect(await dialog().getByRole('button', { name: 'Retire', exact: true }).isDisabled()).toBe(true);
    await page.keyboard.press('Backspace');
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');

    await page.getByText('hive 7 is retired.').waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/?show=devices');
    expect((await dashboard.system.fetch('/devices/hive%207')).status).toBe(404);
    // The new view takes the focus after it is drawn, and then its list.
    await dashboard.untilFocused(page.locator('#main, #devices'));
    await page.getByRole('button', { name: 'Dismiss' }).press('Enter');
    await page.getByText('hive 7 is retired.').waitFor({ state: 'detached' });
  });
});
