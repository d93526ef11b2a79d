import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDatabase } from '../../../tools/bench/environment/database.ts';
import { type Environment, openEnvironment } from '../../../tools/bench/environment/index.ts';
import { createDiskPart } from '../../../tools/bench/parts/disk.ts';
import { targetsTable } from '../../../tools/bench/parts/index.ts';
import { createOpeningPart } from '../../../tools/bench/parts/opening.ts';
import { createReadingPart } from '../../../tools/bench/parts/reading.ts';
import { ENGINE_DIR } from '../../support/database/engine.ts';

let dir: string;
/** a database of these tests: they need nodetool for the bytes on disk */
let database: Awaited<ReturnType<typeof startDatabase>>;
let environment: Environment;

const flags = { shapes: [], rounds: 1, runMs: 300, warmMs: 0, bootMs: 0 };
const devices = 20;

const context = () => ({ environment, flags, status: () => {} });

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  database = await startDatabase({ dir, engineDir: ENGINE_DIR, profile: 'disposable', onStatus: () => {} });
  environment = await openEnvironment({ dir, database, onStatus: () => {} });
});

afterAll(async () => {
  await environment?.stop();
  await database?.stop();
  await rm(dir, { recursive: true, force: true });
});

test('Benchmark of reading: over HTTP: every reading returns the loaded samples', async () => {
  const part = createReadingPart({ days: 1, monthMs: 20_000, longDays: 2, yearMs: 20_000, devices });
  const result = await part.run(context());
  expect(result.loaded).toBe((24 + 44) * 180);
  const [round] = result.rounds;
  const items = Object.fromEntries(
    Object.entries(round?.results ?? {}).map(([name, { items }]) => [name, items]),
  );
  expect(items).toMatchObject({ latest: 82, page: 100, monthExport: 4320 });
  expect(items['month']).toBeGreaterThan(200);
  expect(round?.results.monthExport.mb).toBeGreaterThan(20);
  expect(part.tables(result)).toHaveLength(1);
  expect(targetsTable({ reading: result }).rows).toHaveLength(2);
});

test('Benchmark of disk space: three table layouts: packed history needs the fewest bytes for a sample', async () => {
  const results = await createDiskPart({ history: 1 / 4, batches: 1 / 24, rows: 1 / 24 }).run(context());
  expect(results.map(({ signal }) => signal)).toEqual(['decimals', 'full']);
  for (const { samples, history, batches, rows } of results) {
    expect(samples).toEqual({ history: 6 * 3600, batches: 3600, rows: 3600 });
    expect(history).toBeGreaterThan(0.5);
    expect(batches).toBeGreaterThan(history);
    expect(rows).toBeGreaterThan(history);
  }
  expect(targetsTable({ disk: results }).rows).toHaveLength(2);
});

test('Benchmark of opening: a dashboard opens under load: acknowledgements are measured with and without the dashboard', async () => {
  const part = createOpeningPart(devices);
  const opening = await part.run(context());
  for (const { results } of opening.rounds) {
    expect(results.alone.count).toBeGreaterThan(0);
    expect(results.opened.count).toBeGreaterThan(0);
  }
  expect(part.tables(opening)[0]?.rows).toHaveLength(2);
  expect(opening.rounds[0]?.results.opened.shownMs).toBeGreaterThan(0);
  expect(targetsTable({ opening }).rows).toHaveLength(1);
});
