import { expect, test } from '@jest/globals';
import pino from 'pino';
import { createLeases } from '../../api/background/leases.ts';
import { bucketOf, closingOf, HOUR_MS } from '../../schema/rules.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { readMetric } from '../support/metrics.ts';
import { startTestSystem } from '../support/system/index.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../support/system/packed.ts';
import { until } from '../support/until.ts';

const packed = usePackedSystem();
const { clock, send, packedUntil } = packed;
const afterwards = useCleanUps();

const leasesOf = (owner: string) =>
  createLeases({ store: packed.store().packLeases, owner, logger: pino({ level: 'silent' }) });

test('Hourly packing of samples: two processes pack at once: they share the groups of devices, and pack each hour once', async () => {
  const hour = packed.newHour();
  for (const device of ['a', 'b', 'c', 'd']) await send(device, samplesOf(hour, 10));
  await packed.packBefore(hour);
  clock.now = closingOf(hour);
  const packers = ['one', 'two'].map((owner) => packed.packer({ leases: leasesOf(owner) }));
  await Promise.all(packers.map((packer) => packer.packDue()));
  expect(await packedUntil()).toEqual(Array(GROUPS).fill(hour + HOUR_MS));
  expect(packers.reduce((sum, { counts }) => sum + counts.groupHours, 0)).toBe(GROUPS);
  expect(packers.reduce((sum, { counts }) => sum + counts.hours, 0)).toBe(4);
});

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
