import { expect, test } from '@jest/globals';
import { bucketOf, closingOf, HOUR_MS } from '../../schema/rules.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { readMetric } from '../support/metrics.ts';
import { startTestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

const afterwards = useCleanUps();

test('Hourly packing of samples: API process runs: it packs closed hours, reports its lag, and releases its leases on stop', async () => {
  let now = Date.now();
  const system = await startTestSystem({
    clock: () => now,
    settings: { LATEST_GROUPS: '2' },
    periods: { pack: 20 },
  });
  afterwards(() => system.stop());
  const store = await system.openStore();
  const hour = bucketOf(now);
  const reached = async (time: number) => {
    const progress = await Promise.all([0, 1].map((group) => store.packProgress.read(group)));
    return progress.every(({ packedUntil }) => packedUntil === time);
  };
  // These hours are closed at any minute at which this test runs.
  await until(() => reached(hour - HOUR_MS));
  now = closingOf(hour);
  await until(() => reached(hour + HOUR_MS));
  expect(await readMetric(system, 'iot_pack_lag_seconds')).toBe(HOUR_MS / 1000);
  expect(await readMetric(system, 'iot_pack_seconds_count')).toBeGreaterThanOrEqual(4);
  await system.halt();
  expect((await system.execute('SELECT grp FROM pack_lease')).rows).toEqual([]);
});
