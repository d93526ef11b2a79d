import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const run = promisify(execFile);

const dashboard = useDashboard();

const textOf = async (label: string) =>
  (await dashboard.page.getByLabel(label, { exact: true }).textContent()) ?? '';

test('First steps page: no data yet: commands for MQTT and HTTP hold the actual host and ports, and can be copied', async () => {
  await dashboard.visit('/');
  await dashboard.page.getByRole('heading', { name: 'No sensor has sent a value yet' }).waitFor();
  await dashboard.page.getByLabel('Command for MQTT', { exact: true }).waitFor();
  const { mqttPort, httpUrl } = dashboard.system;
  expect(await textOf('Command for MQTT')).toContain(`-h 127.0.0.1 -p ${mqttPort}`);
  expect(await textOf('Command for HTTP')).toContain(`${httpUrl}/api/v1/measurements?device=my-desk`);
  await dashboard.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await dashboard.page.getByRole('button', { name: 'Copy Command for HTTP' }).click();
  await dashboard.page.getByText('Copied').first().waitFor();
  const copied = await dashboard.page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(await textOf('Command for HTTP'));
  await dashboard.lookAt('first-steps');
});

test('First steps page: messages on unknown topics arrive: a hint counts the messages, and a table lists the topics', async () => {
  await dashboard.client.publishAsync('iot/v1/my-desk/measurement', '21.5', { qos: 1 });
  await dashboard.client.publishAsync('home/<b>desk</b>', '<img src=x onerror=alert(1)>', { qos: 1 });
  await dashboard.client.publishAsync('iot/v1/my-desk/measurement', '{"value":22}', { qos: 1 });
  await dashboard.visit('/');
  await dashboard.page.getByText('3 messages came on topics that Millrace does not know.').waitFor();
  await dashboard.page.getByText('iot/v1/my-desk/measurements', { exact: true }).first().waitFor();
  await dashboard.page.getByRole('link', { name: 'Show unmatched topics' }).click();

  const table = dashboard.page.getByRole('table', { name: 'Unmatched topics, the newest first' });
  await table.getByText('{"value":22}').waitFor();
  const rows = await table.locator('tbody tr').allTextContents();
  expect(rows).toEqual([
    expect.stringMatching(/^iot\/v1\/my-desk\/measurement2.*\{"value":22\}.*iot\/v1\/my-desk\/measurements/s),
    expect.stringMatching(/^home\/<b>desk<\/b>1.*<img src=x onerror=alert\(1\)>/s),
  ]);
  expect(await dashboard.page.locator('main img, main b').count()).toBe(0);
  await dashboard.lookAt('unmatched-topics');
});

test('First steps page: the button Send a test value is pressed: a row for the sensor appears without a reload', async () => {
  await dashboard.visit('/');
  await dashboard.page.getByRole('button', { name: 'Send a test value' }).press('Enter');
  await dashboard.untilRows(1);
  expect(await dashboard.rows().first().textContent()).toContain('temperature');
});

test('First steps page: the user runs the curl command of the page: the value in the command is stored', async () => {
  const response = await dashboard.system.fetch('/devices/my-desk', { method: 'DELETE' });
  expect(response.status).toBe(204);
  await dashboard.visit('/');
  await dashboard.page.getByRole('heading', { name: 'No sensor has sent a value yet' }).waitFor();
  const { stdout } = await run('sh', ['-c', await textOf('Command for HTTP')]);
  expect(JSON.parse(stdout)).toEqual({ accepted: 1 });
  await until(async () => (await dashboard.system.get('/latest')).items.length === 1, {
    what: 'the value of curl',
  });
});
