import { expect, test } from '@jest/globals';
import pino from 'pino';
import { createPacking } from '../../../api/history/packing/index.ts';
import { createMetrics } from '../../../api/observability/metrics.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { GROUPS, HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';

const path = useMemoryPath();

/** Creates the packing of a process, and reads its metrics page. */
function createProcess() {
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const clock = () => path.clock.now;
  const config = readSettings({ LATEST_GROUPS: String(GROUPS), BATCH_DAYS: '8' }, { envFile: '' });
  const packing = createPacking(
    { config, clock, logger: pino({ level: 'silent' }), metrics },
    {
      store: path.store,
      clockGuard: { now: clock } as never,
      pauseMs: 1000,
    },
  );
  return {
    packing,
    async metric(name: string) {
      const text = await metrics.registry.metrics();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    },
  };
}

test('Metrics of history packing: two sensors are packed: hours, samples and the lag are exported', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  await path.send('device', samplesOf(HOUR, 5), { sensor: 't' });
  path.clock.now = HOUR + 2 * HOUR_MS;
  const { packing, metric } = createProcess();
  await packing.packDue();
  expect(await metric('iot_pack_hours_total')).toBe(2);
  expect(await metric('iot_pack_samples_total')).toBe(25);
  expect(await metric('iot_pack_unreadable_rows_total')).toBe(0);
  expect(await metric('iot_pack_seconds_count')).toBe(GROUPS);
  expect(await metric('iot_pack_lag_seconds')).toBe(3600);
  expect(await metric('iot_pack_lag_limit_seconds')).toBe(2 * 86_400);
});

test('Metrics of history packing: three rows are unreadable: iot_pack_unreadable_rows_total is 3', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  for (const at of [1, 2, 3]) await path.writeBrokenRow('device', HOUR, HOUR + at);
  path.clock.now = HOUR + 2 * HOUR_MS;
  const { packing, metric } = createProcess();
  await packing.packDue();
  expect(await metric('iot_pack_unreadable_rows_total')).toBe(3);
  expect(await metric('iot_pack_hours_total')).toBe(0);
});
