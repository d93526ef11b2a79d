import { expect, jest, test } from '@jest/globals';
import { publishCollars, SENSORS } from '../support/collars.js';
import { useDashboard } from '../support/dashboard.js';

jest.setTimeout(60_000);

const dashboard = useDashboard({ fill: publishCollars });

/** @param {import('playwright-core').Locator} locator */
const textOf = async (locator) => (await locator.textContent()) ?? '';

test('a device shows its sensors, whether it is there, and where', async () => {
  await dashboard.visit('/devices/collar-3');
  await dashboard.untilRows(SENSORS.length);
  await dashboard.page.getByRole('heading', { name: 'collar-3', level: 1 }).waitFor();
  expect(await textOf(dashboard.page.locator('.facts'))).toMatch(/Online[\s\S]*North Meadow/);
  await dashboard.publish('collar-3', { sensor_id: 'neck', ts: Date.now() + 1000, value: 41.25 });
  await dashboard.rows().filter({ hasText: 'neck' }).getByText('41.25').waitFor();
});
