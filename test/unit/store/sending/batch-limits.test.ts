import { expect, test } from '@jest/globals';
import { readBatchLimits } from '../../../../api/store/sending/batch-limits.ts';
import { type BatchLimits, DEFAULT_LIMITS } from '../../../../api/store/sending/write-merger.ts';
import { BATCH_LIMITS } from '../../../../schema/rules.ts';

const SIZE = 'batch_size_warn_threshold';
const PARTITIONS = 'unlogged_batch_across_partitions_warn_threshold';

/** @param settings of a server @returns a client that reads them */
const clientOf = (settings: Record<string, string>) => ({
  execute: async (_cql: string, [names = []]: string[][]) => ({
    rows: names.filter((name) => name in settings).map((name) => ({ name, value: settings[name] })),
  }),
});

test.each([
  ['at their defaults', { [SIZE]: '5KiB', [PARTITIONS]: '10' }, DEFAULT_LIMITS],
  ['larger', { [SIZE]: '16KiB', [PARTITIONS]: '20' }, { bytes: 16 * 1024, partitions: 20 }],
  ['very large', { [SIZE]: '1MiB', [PARTITIONS]: '1000' }, { bytes: 32 * 1024, partitions: 64 }],
  ['smaller', { [SIZE]: '1024B', [PARTITIONS]: '2' }, { bytes: 1024, partitions: 2 }],
  ['missing', {}, DEFAULT_LIMITS],
  ['in an unknown format', { [SIZE]: '5 kilobytes', [PARTITIONS]: '-1' }, DEFAULT_LIMITS],
] as Array<[string, Record<string, string>, BatchLimits]>)(
  'Batch limits: server thresholds are %s: batches fit them',
  async (_, settings, expected) => {
    const limits = await readBatchLimits(clientOf(settings) as never);
    expect(limits).toEqual(expected);
    // Cassandra refuses a larger batch.
    expect(limits.bytes).toBeLessThan(BATCH_LIMITS.bytes.cassandra);
  },
);

test('Batch limits: the role may not read the settings of the server: the default limits apply', async () => {
  const client = { execute: () => Promise.reject(new Error('no SELECT permission')) };
  expect(await readBatchLimits(client as never)).toEqual(DEFAULT_LIMITS);
});

test('Batch limits: a process starts: both thresholds of the server are read in one request', async () => {
  const client = clientOf({ [SIZE]: '16KiB', [PARTITIONS]: '20' });
  let requests = 0;
  const { execute } = client;
  client.execute = (...request: Parameters<typeof execute>) => {
    requests++;
    return execute(...request);
  };
  expect(await readBatchLimits(client as never)).toEqual({ bytes: 16 * 1024, partitions: 20 });
  expect(requests).toBe(1);
});
