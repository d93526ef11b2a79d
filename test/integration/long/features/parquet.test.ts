import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { DAY_MS, dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import type { Json } from '../../../support/json.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../../../support/system/packed.ts';
import { until } from '../../../support/until.ts';

const root = mkdtempSync(join(tmpdir(), 'millrace-parquet-'));
const first = join(root, 'first');
const second = join(root, 'second');
const ALL = Array.from({ length: GROUPS }, (_, group) => group);
const { clock, system, send, closeHour } = usePackedSystem({
  settings: { STREAM_PARQUET: first, LATEST_GROUPS: String(GROUPS) },
  periods: { stream: 100 },
  readStreamed: readWatermarks,
});
/** Another process with the same database and another directory. */
let other: TestSystem;

beforeAll(async () => {
  other = await startTestSystem({
    settings: {
      CQL_KEYSPACE: system().config.cql.keyspace,
      STREAM_PARQUET: second,
      LATEST_GROUPS: String(GROUPS),
    },
    clock: () => clock.now,
    periods: { stream: 100 },
  });
  await until(async () => (await readWatermarks()).every((written) => written !== null), {
    what: 'the first watermarks',
  });
});

afterAll(async () => {
  await other?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** @param ts epoch ms */
const textOf = (ts: number) => new Date(ts).toISOString().slice(0, 10);

function readJson(path: string): Json {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** @returns of both processes, in epoch ms */
async function readWatermarks(): Promise<Array<number | null>> {
  const all = [first, second].flatMap((directory) =>
    ALL.map((group) => readJson(join(directory, `watermark/${group}.json`))),
  );
  return all.map((watermark) => watermark && Date.parse(watermark.until));
}

/** Moves the clock to noon of the next day, and closes the hours before noon. @returns epoch ms of its start */
async function newDay(): Promise<number> {
  const day = dayOf(clock.now) + DAY_MS;
  clock.now = day + DAY_MS / 2;
  await closeHour(day + 9 * HOUR_MS);
  return day;
}

const closeDay = (day: number) => closeHour(day + DAY_MS - HOUR_MS);

const manifestsOf = (day: number, directory: string = first): Json[] =>
  ALL.map((group) => readJson(join(directory, `manifest/day=${textOf(day)}/${group}.json`)));

const filesOf = (day: number): string[] => readdirSync(join(first, `data/day=${textOf(day)}`)).sort();

async function rowsOf(
  day: number,
  directory: string = first,
): Promise<Array<{ device: string; ts: number; value: number }>> {
  const rows = [];
  for (const { files } of manifestsOf(day, directory)) {
    for (const { path } of files) {
      const file = new Uint8Array(readFileSync(join(directory, path))).buffer;
      rows.push(...(await parquetReadObjects({ file })));
    }
  }
  return rows.map(({ device, ts, value }) => ({ device, ts: ts.getTime(), value }));
}

const sorted = (rows: Array<{ device: string; ts: number; value: number }>) =>
  rows.map((row) => JSON.stringify(row)).sort();

const expected = (devices: Record<string, Array<{ ts: number; value: number }>>) =>
  sorted(
    Object.entries(devices).flatMap(([device, samples]) => samples.map((sample) => ({ device, ...sample }))),
  );

test('Parquet files: a process ended between a file and its manifest: the day is completed again with the same files', async () => {
  const day = await newDay();
  await send('c-1', samplesOf(day, 30));
  await send('c-2', samplesOf(day, 30));
  await closeDay(day);
  const manifests = manifestsOf(day);
  const inodes = () => filesOf(day).map((name) => statSync(join(first, `data/day=${textOf(day)}`, name)).ino);
  const before = inodes();
  expect(before.length).toBeGreaterThan(0);
  for (const group of ALL) {
    rmSync(join(first, `manifest/day=${textOf(day)}/${group}.json`));
    const path = join(first, `watermark/${group}.json`);
    writeFileSync(path, JSON.stringify({ ...readJson(path), until: new Date(day).toISOString() }));
  }
  // The watermark is read again when the next hour is due.
  await closeHour(dayOf(clock.now) + 3 * HOUR_MS);
  expect(manifestsOf(day)).toEqual(manifests);
  expect(inodes()).toEqual(before);
});

test('Parquet files: late samples arrive after their day was written: the day is written again later; the old file stays an hour', async () => {
  const day = await newDay();
  const early = samplesOf(day, 20);
  const late = samplesOf(day, 10, 500);
  await send('d-1', early);
  await closeDay(day);
  const [old] = manifestsOf(day).flatMap(({ files }) => files);
  await send('d-1', late);
  await closeHour(day + 2 * DAY_MS - 2 * HOUR_MS);
  expect(sorted(await rowsOf(day))).toEqual(expected({ 'd-1': early }));
  await closeDay(day + DAY_MS);
  expect(sorted(await rowsOf(day))).toEqual(expected({ 'd-1': [...early, ...late] }));
  expect(manifestsOf(day).every(({ settled }) => settled)).toBe(true);
  expect(manifestsOf(day).flatMap(({ replaced }) => replaced)).toMatchObject([{ path: old.path }]);
  expect(filesOf(day)).toHaveLength(2);
  await closeHour(day + 2 * DAY_MS + HOUR_MS);
  expect(filesOf(day)).toEqual(
    manifestsOf(day).flatMap(({ files }) =>
      files.map(({ path }: { path: string }) => path.split('/').at(-1)),
    ),
  );
  expect(manifestsOf(day).flatMap(({ replaced }) => replaced)).toEqual([]);
});
