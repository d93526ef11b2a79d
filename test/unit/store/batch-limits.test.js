import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, limitsOf, readBatchLimits } from '../../../api/store/batch-limits.js';
import { DIALECTS } from '../../../schema/migrate/files.js';

/** @import { Client } from 'cassandra-driver' */

const PARTITIONS = 'unlogged_batch_across_partitions_warn_threshold';
const BYTES = 'batch_size_warn_threshold';

describe('Batch limits: settings of the server', () => {
  test.each([
    ['the defaults of Cassandra', { [PARTITIONS]: '10', [BYTES]: '5KiB' }, DEFAULT_LIMITS],
    ['smaller ones', { [PARTITIONS]: '2', [BYTES]: '512B' }, { partitions: 2, bytes: 512 }],
    ['those of npm run dev', { [PARTITIONS]: '64', [BYTES]: '64KiB' }, { partitions: 64, bytes: 32_768 }],
    ['very large ones', { [PARTITIONS]: '1000', [BYTES]: '1GiB' }, { partitions: 64, bytes: 32_768 }],
    ['none', {}, DEFAULT_LIMITS],
    ['a threshold that is off', { [PARTITIONS]: '-1', [BYTES]: 'null' }, DEFAULT_LIMITS],
    ['another unit', { [PARTITIONS]: '0', [BYTES]: '5XiB' }, DEFAULT_LIMITS],
  ])('%s', (_, settings, expected) => {
    expect(limitsOf(new Map(Object.entries(settings)))).toEqual(expected);
  });

  test('ScyllaDB, or a table that the role may not read: the defaults', async () => {
    const client = /** @type {Client} */ (
      /** @type {unknown} */ ({ execute: async () => Promise.reject(new Error('no permission')) })
    );
    for (const dialect of Object.values(DIALECTS)) {
      expect(await readBatchLimits(client, dialect)).toEqual(DEFAULT_LIMITS);
    }
  });
});
