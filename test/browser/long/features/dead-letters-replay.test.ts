import { expect, test } from '@jest/globals';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ system: { settings: { AUTO_REGISTER: 'false' } } });

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
