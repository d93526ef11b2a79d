import { expect, test } from '@jest/globals';
import { useDashboard } from '../../../support/web/dashboard.ts';

const MINUTE_MS = 60_000;
const HISTORY_MINUTES = 6 * 60;
const DEVICES = Array.from({ length: 25 }, (_, index) => `collar-${String(index + 1).padStart(2, '0')}`);

const dashboard = useDashboard({
  async fill({ client, announce, publish }) {
    const now = Date.now();
    const measure = (device: string, lately: number) =>
      publish(
        device,
        Array.from({ length: HISTORY_MINUTES }, (_, minute) => ({
          sensor_id: 'temperature',
          ts: now - (HISTORY_MINUTES - 1 - minute) * MINUTE_MS,
          value: minute > HISTORY_MINUTES - 30 ? lately : 20 + (minute % 3),
        })),
      );
    const switchTo = (device: string, status: string) =>
      client.publishAsync(`iot/v1/${device}/status`, status, { qos: 1 });
    const birth = { sensors: [{ sensor_id: 'temperature', unit: 'Cel' }] };
    for (const device of [...DEVICES, 'loose-contact'])
      await announce(device, { site: 'North Meadow', ...birth });
    await measure('collar-01', 31);
    await measure('collar-02', 21);
    for (const status of ['offline', 'online']) for (const device of DEVICES) await switchTo(device, status);
    for (let time = 0; time < 3; time++)
      for (const status of ['offline', 'online']) await switchTo('loose-contact', status);
  },
});

const row = (text: string) => dashboard.page.locator('.changes tbody tr', { hasText: text });

test('Changes page: 25 devices came online together: one row names their number and lists them; a device that changes often has its own', async () => {
  await dashboard.visit('/changes');
  const group = row('25 devices came online at');
  await group.waitFor();
  await row('loose-contact')
    .getByText(/^[67] changes$/)
    .waitFor();
  await row('collar-01').getByText('Left it, as far as 31').waitFor();
  await dashboard.page.getByText('Looked at 26 devices.').waitFor();
  expect(await dashboard.page.locator('.changes tbody tr').count()).toBe(3);
  await dashboard.lookAt('changes');
  await group.locator('summary').click();
  await group.getByRole('link', { name: 'collar-25' }).waitFor();
  await dashboard.expectAccessible();
});
