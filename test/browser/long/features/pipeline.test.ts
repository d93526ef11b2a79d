import { test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { publishSmallFleet, SENSORS } from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({ system: { periods: { heartbeat: 500 } }, fill: publishSmallFleet });

const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';
const stage = (name: string) => dashboard.page.locator(`.stage[data-stage="${name}"]`);
const figure = async (name: string, label: string) =>
  Number(
    (
      await textOf(stage(name).locator('dl > div').filter({ hasText: label }).locator('.stage-value'))
    ).replaceAll(',', ''),
  );

function keepPublishing() {
  let isRunning = true;
  const publishing = (async () => {
    while (isRunning) {
      const now = Date.now();
      const batch = SENSORS.flatMap((sensor_id) =>
        Array.from({ length: 10 }, (_, i) => ({ sensor_id, ts: now - i, value: 38 + i })),
      );
      await dashboard.publish('collar-1', batch);
    }
  })();
  return async () => {
    isRunning = false;
    await publishing;
  };
}

test('Pipeline page: a device publishes, then stops: the rate of stored samples rises above zero, then falls to zero', async () => {
  await dashboard.visit('/pipeline');
  await dashboard.page.getByText('✓ All is well').waitFor();
  const stop = keepPublishing();
  try {
    await until(async () => (await figure('ingest', 'Stored')) > 0, { what: 'a rate' });
    await until(async () => (await figure('database', 'Commit p99')) > 0, { what: 'a time to commit' });
    await stage('ingest').locator('.stage-pipe[data-flows="true"]').waitFor();
    await until(async () => /Online\s*4\s*Offline\s*0\s*Not live\s*0/.test(await textOf(stage('devices'))), {
      what: 'the count of devices',
    });
    await stage('database').filter({ hasText: '1 of 1 node up' }).waitFor();
    await stage('ingest')
      .filter({ hasText: /Window\s*\d+ of 512/ })
      .waitFor();
    await stage('broker').filter({ hasText: '✓ 1 client' }).waitFor();
    await until(async () => (await figure('readers', 'Readers of the stream')) === 1, {
      what: 'this page as a reader',
    });
  } finally {
    await stop();
  }
  await until(async () => (await figure('ingest', 'Stored')) === 0, { what: 'standstill' });
});

test('Fleet page: opened: the key figures of the pipeline are shown', async () => {
  await dashboard.visit('/');
  await dashboard.page
    .getByLabel('The pipeline now')
    .filter({ hasText: /Samples stored\s*\d.*Time to commit.*ms p50.*Commit to screen.*Refused\s*0/s })
    .waitFor();
});
