import { expect, jest, test } from '@jest/globals';
import { useDashboard } from '../support/dashboard.js';

jest.setTimeout(60_000);

const dashboard = useDashboard({ system: { settings: { AUTO_REGISTER: 'false' } } });

test('Dead letters: none: a note', async () => {
  await dashboard.visit('/dead-letters');
  await dashboard.page.getByRole('heading', { name: 'Nothing was refused in the last 24 hours' }).waitFor();
  await dashboard.lookAt('dead-letters-none');
});

test('Replay: too early: refused again with the reason; after the cause is removed: stored', async () => {
  await dashboard.visit('/dead-letters');
  await dashboard.page.getByRole('heading', { name: /Nothing was refused/ }).waitFor();
  const ts = Date.now();
  // The message is too large to wait in memory for the birth, so only the replay can store it.
  await dashboard.publish('newcomer', [
    { sensor_id: 's', ts, value: 1 },
    { sensor_id: 's', ts: ts - 1, value: 2, note: 'x'.repeat(20_000) },
  ]);
  await dashboard.page.locator('.dead-letters a.row-link').press('Enter');
  await replay();
  await dashboard.page.getByText('Nothing is stored. Refused again: 2.').waitFor();
  // The console of the browser has the expected 422.
  expect(dashboard.takeComplaints()).toEqual([expect.stringContaining('422')]);
  await dashboard.lookAt('dead-letter-refused-again');

  await dashboard.announce('newcomer', { sensors: [{ sensor_id: 's' }] });
  await replay();
  await dashboard.page.getByText('✓ Stored: 2 measurements.').waitFor();
  const { items } = await dashboard.system.get(`/devices/newcomer/sensors/s/measurements?from=${ts - 10}`);
  expect(items.map((/** @type {any} */ { value }) => value)).toEqual([1, 2]);
});

async function replay() {
  await dashboard.page.getByRole('button', { name: 'Replay …' }).press('Enter');
  const question = dashboard.page.getByRole('dialog', { name: 'Store what was refused?' });
  await question.waitFor();
  await dashboard.page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await dashboard.page.getByRole('button', { name: 'Replay …' }).press('Enter');
  await question.getByRole('button', { name: 'Replay' }).press('Enter');
}
