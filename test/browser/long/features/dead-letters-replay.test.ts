import { expect, test } from '@jest/globals';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ system: { settings: { AUTO_REGISTER: 'false' } } });

test('Dead letters page: no dead letters: the note No message was refused in the last 24 hours is shown', async () => {
  await dashboard.visit('/dead-letters');
  await dashboard.page
    .getByRole('heading', { name: 'No message was refused in the last 24 hours' })
    .waitFor();
  await dashboard.lookAt('dead-letters-none');
});

test('Dead letter replay: device without birth message: refused again; after the birth message: measurements are stored', async () => {
  await dashboard.visit('/dead-letters');
  await dashboard.page.getByRole('heading', { name: /No message was refused/ }).waitFor();
  const ts = Date.now();
  // This message is too large to wait in memory for the birth, so only the replay can store it.
  await dashboard.publish('newcomer', [
    { sensor_id: 's', ts, value: 1 },
    { sensor_id: 's', ts: ts - 1, value: 2, note: 'x'.repeat(20_000) },
  ]);
  dashboard.expectComplaints(/status of 422/);
  await dashboard.page.locator('.dead-letters a.row-link').press('Enter');
  await replay();
  await dashboard.page.getByText('Nothing is stored. Refused again: 2.').waitFor();
  await dashboard.lookAt('dead-letter-refused-again');

  await dashboard.announce('newcomer', { sensors: [{ sensor_id: 's' }] });
  await replay();
  await dashboard.page.getByText('✓ Stored: 2 measurements.').waitFor();
  const { items } = await dashboard.system.get(`/devices/newcomer/sensors/s/measurements?from=${ts - 10}`);
  expect(items.map(({ value }: { value: number }) => value)).toEqual([1, 2]);
});

async function replay() {
  const ask = dashboard.page.getByRole('button', { name: 'Replay …' });
  await ask.press('Enter');
  const question = dashboard.page.getByRole('dialog', { name: 'Store what was refused?' });
  await question.waitFor();
  await dashboard.page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await dashboard.untilFocused(ask);
  await ask.press('Enter');
  await question.getByRole('button', { name: 'Replay' }).press('Enter');
}

test('Bulk replay: six dead letters: the user confirms the count, then the dialog lists a result for each dead letter', async () => {
  const ts = Date.now();
  const note = 'x'.repeat(20_000);
  for (let index = 0; index < 5; index++) {
    await dashboard.publish('belt', [{ sensor_id: 'speed', ts: ts + index, value: index, note }]);
  }
  await dashboard.publish('belt', [{ sensor_id: 'speed', ts, value: 'fast', note }]);
  await dashboard.announce('belt', { sensors: [{ sensor_id: 'speed' }] });
  dashboard.expectComplaints(/status of 422/);
  await dashboard.visit('/dead-letters?device=belt');
  await dashboard.page.getByRole('button', { name: 'Replay all …' }).press('Enter');
  const question = dashboard.page.getByRole('dialog', { name: 'Replay 6 dead letters?' });
  await question.getByText('They have 6 refusals.').waitFor();
  await dashboard.lookAt('bulk-replay');
  await question.getByRole('button', { name: 'Replay 6 dead letters' }).press('Enter');

  const done = dashboard.page.getByRole('dialog', { name: 'The replay has ended' });
  await done.getByText('6 of 6 dead letters. Stored: 5. Refused again: 1.').waitFor();
  const results = done.getByRole('list', { name: 'Result of each dead letter' }).getByRole('listitem');
  expect(await results.first().textContent()).toMatch(/belt: 0 stored, 1 refused again: \[0\]\.value: /);
  expect(await results.count()).toBe(6);
  await dashboard.lookAt('bulk-replay-done');
  await done.getByRole('button', { name: 'Close' }).press('Enter');
  const { items } = await dashboard.system.get(`/devices/belt/sensors/speed/measurements?from=${ts}`);
  expect(items).toHaveLength(5);
});
