import { expect, test } from '@jest/globals';
import pino from 'pino';
import { createMetrics } from '../../../../api/observability/metrics.ts';
import { PartitionWatch } from '../../../../api/store/measurements/writes.ts';

const HOUR = 3_600_000;

/** @returns a new object for this device: the registry cache creates one at each read */
const deviceOf = (number: number) => ({ bytes: Buffer.alloc(16, number) });

/** Partition watch as ingest uses it. The count is read from the metric by its Prometheus name. */
function createWatch() {
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const watch = new PartitionWatch({
    logger: pino({ level: 'silent' }),
    onLarge: () => metrics.largePartitions.inc(),
  });
  const note = (
    device: object,
    {
      bucket = HOUR,
      part = 0,
      bytes = 1,
      rows = 1,
    }: { bucket?: number; part?: number; bytes?: number; rows?: number },
  ) => watch.note(device as never, { bucket, part, bytes }, rows);
  const count = async () => {
    const text = await metrics.registry.metrics();
    return Number(/^iot_ingest_large_partitions_total (\S+)$/m.exec(text)?.[1]);
  };
  return { note, count };
}

// docs/reference/metrics.md: a partition of more than 100,000 rows or 100 MB.
test.each([
  ['100,000 rows', { rows: 50_000 }],
  ['100 MB', { bytes: 50_000_000 }],
])('Metric of large partitions: an hour of a device grows over %s: counted once', async (_, half) => {
  const { note, count } = createWatch();
  const [wide, other] = [deviceOf(1), deviceOf(2)];
  note(wide, half);
  note(wide, half);
  note(other, half);
  expect(await count()).toBe(0);
  note(wide, {});
  note(wide, half);
  note(other, half);
  expect(await count()).toBe(1);
});

test('Metric of large partitions: an hour of a device is split into partitions: each partition is counted separately', async () => {
  const { note, count } = createWatch();
  const device = deviceOf(1);
  for (let part = 1; part <= 4; part++) note(device, { part, rows: 90_000 });
  expect(await count()).toBe(0);
  note(device, { part: 2, rows: 20_000 });
  expect(await count()).toBe(1);
});

test('Metric of large partitions: a device begins a new hour: counting starts at 0, late samples are not counted', async () => {
  const { note, count } = createWatch();
  const device = deviceOf(1);
  note(device, { rows: 60_000 });
  note(device, { bucket: 2 * HOUR, rows: 60_000 });
  note(device, { rows: 60_000 });
  expect(await count()).toBe(0);
  note(device, { bucket: 2 * HOUR, rows: 60_000 });
  expect(await count()).toBe(1);
});
