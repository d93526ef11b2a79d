import { expect, test } from '@jest/globals';
import { useDashboard } from '../../../support/web/dashboard.ts';

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
