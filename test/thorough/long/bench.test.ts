import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from '../../../api/store/connect.ts';
import type { Config } from '../../../common/settings/config.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import { type Environment, openEnvironment } from '../../../tools/bench/environment/index.ts';
import { loadOf } from '../../../tools/bench/load/shapes.ts';
import { measureRate } from '../../../tools/bench/measure/rate.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';

let dir: string;
let environment: Environment;

const shape = loadOf('4x10', 20);
// Any process with a readable CPU time is good enough here.
const timing = { database: process.pid, warmMs: 0, forMs: 1000 };

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const database = { contactPoint: sharedContactPoint(), pid: process.pid };
  environment = await openEnvironment({ dir, database, prefix: uniqueName('b'), onStatus: () => {} });
});

afterAll(async () => {
  await environment?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Counts in the database itself, independently of the metrics of ingest. No load publishes a time twice. */
async function stored(cql: Config['cql']) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'test' });
  let count = 0;
  try {
    for await (const row of await client.execute('SELECT bucket, samples FROM message', [], {
      prepare: true,
    }))
      visitBlock(row['bucket'].getTime(), row['samples'], (_, series) => {
        count += series().times.length;
      });
    return count;
  } finally {
    await client.shutdown();
  }
}

test('Benchmark of ingest: highest rate and fixed rate: counts exactly the samples that the database stores', async () => {
  const wired = await environment.wired();
  const { cpu } = await measureRate(wired, shape, timing);
  expect(Object.keys(cpu)).toEqual(['ingest', 'broker', 'publisher', 'database']);
  const before = await wired.committed();
  expect(before).toBeGreaterThan(0);
  expect(await stored(wired.cql)).toBe(before);

  const { published, latency } = await wired.pace(shape, { rate: 4000, forMs: 500 });
  expect(published).toBe(2000);
  expect(latency.count).toBe(50);
  expect(await wired.committed()).toBe(before + published);
  expect(await stored(wired.cql)).toBe(before + published);
});

test('Benchmark of ingest: one row per sample, highest rate: every sample is committed', async () => {
  const rows = await environment.pipeline('rows', { rows: true });
  // The call throws if a published sample was refused or not committed. In one second of a busy machine the rate may be 0.
  await measureRate(rows, shape, timing);
  expect(await rows.committed()).toBeGreaterThan(0);
  expect(await stored(rows.cql)).toBe(0);
});
