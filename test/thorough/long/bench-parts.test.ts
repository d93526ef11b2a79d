import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Views } from '../../../tools/bench/dashboard/views.ts';
import { startDatabase } from '../../../tools/bench/environment/database.ts';
import { type Environment, openEnvironment } from '../../../tools/bench/environment/index.ts';
import { createAlarmsPart } from '../../../tools/bench/parts/alarms.ts';
import { createDashboardPart } from '../../../tools/bench/parts/dashboard.ts';
import { createFilesPart } from '../../../tools/bench/parts/files.ts';
import { createOpeningPart } from '../../../tools/bench/parts/opening.ts';
import { createPackingPart } from '../../../tools/bench/parts/packing.ts';
import { createReadingPart } from '../../../tools/bench/parts/reading.ts';
import { createReadingDiskPart } from '../../../tools/bench/parts/reading-disk.ts';
import { createStreamingPart } from '../../../tools/bench/parts/streaming.ts';
import { targetsTable } from '../../../tools/bench/targets.ts';
import { ENGINE_DIR } from '../../support/database/engine.ts';

let dir: string;
/** a database of these tests: they need nodetool for the bytes on disk */
let database: Awaited<ReturnType<typeof startDatabase>>;
let environment: Environment;

const flags = { only: [], shapes: [], rounds: 1, runMs: 300, watchMs: 0, warmMs: 0, inFlight: [], bootMs: 0 };
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

test('Benchmark of reading: from the store and over HTTP: every reading returns the loaded samples', async () => {
  const part = createReadingPart({
    small: { sensors: 2, days: 1 },
    large: { sensors: 2, days: 1, longDays: 2 },
    intervalMs: 20_000,
    devices,
  });
  const result = await part.run(context());
  const { loaded, stored, rounds, longest } = result;
  expect(loaded.small).toBe(2 * 4320);
  expect(stored.large).toBeGreaterThan(loaded.large);
  const [round] = rounds;
  expect(round).toBeDefined();
  const items = Object.fromEntries(
    Object.entries(round?.results ?? {}).map(([name, { items }]) => [name, items]),
  );
  expect(items).toMatchObject({
    smallPage: 100,
    page: 100,
    monthExport: 4320,
    latestRows: 6,
    yearStatistics: 44,
  });
  expect(items['month']).toBeGreaterThan(200);
  expect(longest.items).toBe(44 * 180);
  expect(longest.mb).toBeGreaterThan(20);
  expect(part.tables(result)).toHaveLength(3);
  expect(targetsTable({ reading: result }).rows).toHaveLength(6);
});

test('Benchmark of disk space: three table layouts: packed history needs the fewest bytes for a sample', async () => {
  const results = await createReadingDiskPart({ packedDays: 1 / 4, batchDays: 1 / 24, rowDays: 1 / 24 }).run(
    context(),
  );
  expect(results.map(({ signal }) => signal)).toEqual(['decimals', 'full']);
  for (const { samples, history, batches, rows } of results) {
    expect(samples).toEqual({ packed: 6 * 3600, batches: 3600, rows: 3600 });
    expect(history).toBeGreaterThan(0.5);
    expect(batches).toBeGreaterThan(history);
    expect(rows).toBeGreaterThan(history);
  }
  expect(targetsTable({ disk: results }).rows).toHaveLength(2);
});

test('Benchmark of files: a Parquet file is exported, then imported twice: time and memory of all three are measured', async () => {
  const part = createFilesPart({ days: 2, intervalMs: 20_000 });
  const files = await part.run(context());
  expect(files.samples).toBe(44 * 180);
  expect(files.bytes).toBeGreaterThan(1000);
  for (const { seconds, mb } of [files.out, files.first, files.again]) {
    expect(seconds).toBeGreaterThan(0);
    expect(mb).toBeGreaterThan(20);
  }
  expect(part.tables(files)[0]?.rows).toHaveLength(3);
  expect(targetsTable({ files }).rows).toHaveLength(3);
});

test('Benchmark of packing: with and without ingest: the packed hours are counted', async () => {
  const sizes = { devices: 4, loadDevices: devices };
  const packing = await createPackingPart(sizes).run(context());
  const hours = packing.loaded.hours + packing.alone.hours;
  expect(hours).toBeGreaterThan(0);
  expect(hours).toBeLessThanOrEqual(4 * 4 * 2);
  expect(targetsTable({ packing }).rows).toHaveLength(1);
});

test('Benchmark of streaming to Kafka: one load: no row is skipped, and the CPU time of Kafka is measured', async () => {
  const part = createStreamingPart({ loads: ['4x10'], devices, engineDir: ENGINE_DIR });
  const measured = await part.run(context());
  expect(measured).toMatchObject([{ shape: '4x10', skipped: 0 }]);
  const [round] = measured[0]?.rounds ?? [];
  expect(Number(round?.results.streaming.cpu['kafka'])).toBeGreaterThanOrEqual(0);
  expect(part.tables(measured)[0]?.rows).toHaveLength(1);
  expect(targetsTable({ streaming: measured }).rows).toHaveLength(1);
});

test('Benchmark of alarms: five rules and three probes: each change of an alarm is reported', async () => {
  const alarms = await createAlarmsPart({ devices, rules: 5, probes: 3 }).run(context());
  // The part throws if a change of an alarm has no report.
  expect(alarms.reports.count).toBeGreaterThan(0);
  expect(targetsTable({ alarms }).rows).toHaveLength(2);
});

test('Benchmark of opening: a dashboard opens under load: acknowledgements are measured with and without the dashboard', async () => {
  const part = createOpeningPart(devices);
  const opening = await part.run(context());
  for (const { results } of opening.rounds) {
    expect(results.alone.count).toBeGreaterThan(0);
    expect(results.opened.count).toBeGreaterThan(0);
  }
  expect(part.tables(opening)[0]?.rows).toHaveLength(2);
  expectWeighed(opening.views?.[0]);
  expect(targetsTable({ opening }).rows).toHaveLength(3);
});

test('Benchmark of the dashboard: three fleets: requests, bytes and heap of the views are measured', async () => {
  const part = createDashboardPart({
    wall: { devices: 3, sensors: 2, batch: '1s' },
    viewed: [
      { name: '57 sensors', devices: 2, batch: '1s' },
      { name: '2,000 devices', devices: 3, sensors: 1, batch: '1s' },
    ],
    visits: 1,
  });
  const dashboard = await part.run(context());
  expect(dashboard.views?.map(({ sensors }) => sensors)).toEqual([expect.any(Number), 3]);
  for (const views of dashboard.views ?? []) expectWeighed(views);
  expect(dashboard.first).toHaveLength(1);
  expect(dashboard.slow).toHaveLength(1);
  expect(Math.min(...dashboard.heap)).toBeGreaterThan(0);
  expect(part.tables(dashboard).at(-1)?.rows).toHaveLength(4);
  const figures = targetsTable({ dashboard }).rows.map(([figure]) => figure);
  expect(figures.filter((figure) => figure?.includes('of the first view'))).toHaveLength(4);
});

function expectWeighed(views: Views | undefined) {
  // The page, its script and its style; the fleet and its stream.
  expect(views?.first.files).toBeGreaterThanOrEqual(3);
  expect(views?.first.data).toBeGreaterThanOrEqual(2);
  expect(views?.first.kilobytes).toBeGreaterThan(10);
  // Its files are in the cache of the browser.
  expect(views?.reload.files).toBeLessThan(Number(views?.first.files));
  expect(views?.reload.kilobytes).toBeLessThan(Number(views?.first.kilobytes));
  expect(views?.reload.kilobytes).toBeGreaterThan(0);
}
