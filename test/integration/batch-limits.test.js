import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readBatchLimits } from '../../api/store/batch-limits.js';
import { DIALECTS } from '../../schema/migrate/files.js';
import { startTestSystem } from '../support/system/index.js';

/** @import { TestSystem } from '../support/system/index.js' */

/** @type {TestSystem} */
let system;
beforeAll(async () => {
  system = await startTestSystem();
});
afterAll(() => system?.stop());

test('Batch limits: Cassandra of npm run dev: its settings are read, as far as a gain is known', async () => {
  const client = await system.openDatabase();
  try {
    expect(await readBatchLimits(client, DIALECTS.cassandra)).toEqual({ partitions: 64, bytes: 32_768 });
  } finally {
    await client.shutdown();
  }
});
