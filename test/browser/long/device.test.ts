import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const SENSORS = ['brood', 'entrance', 'lid', 'air', 'scale', 'hum', 'flights', 'battery'];

const dashboard = useDashboard({
  async fill({ announce, publish, client }) {
    await announce('hive-3', {
      site: 'Orchard',
      sensors: SENSORS.map((name) => ({ sensor_id: name, name })),
    });
    await client.publishAsync('iot/v1/hive-3/status', 'online', { qos: 1 });
    await publish(
      'hive-3',
      SENSORS.map((name) => ({ sensor_id: name, ts: Date.now(), value: 1 })),
    );
  },
});

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
