import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureReaders } from '../../../infra/python/ensure.ts';
import { closingOf, DAY_MS, dayOf } from '../../../schema/rules.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../../support/system/packed.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const INSTALLS_MS = 300_000;
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = readFileSync(fileOf('../../../docs/how-to/stream-to-parquet.md'), 'utf8');
const root = mkdtempSync(join(tmpdir(), 'millrace-lake-'));
const lake = join(root, 'lake');
const { clock, send } = usePackedSystem({
  settings: { STREAM_PARQUET: lake, LATEST_GROUPS: String(GROUPS) },
  periods: { stream: 50 },
});
let program: (name: string) => string;

beforeAll(async () => {
  const python = await ensureReaders({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  program = python.program;
}, INSTALLS_MS);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** @param day epoch ms */
const textOf = (day: number) => new Date(day).toISOString().slice(0, 10);

/** Moves the clock until a day has closed, and waits until its files are there. @param day epoch ms */
async function closeDay(day: number) {
  clock.now = closingOf(day + DAY_MS - 1);
  for (let group = 0; group < GROUPS; group++) {
    const path = join(lake, `watermark/${group}.json`);
    await until(
      async () =>
        existsSync(path) && Date.parse(JSON.parse(readFileSync(path, 'utf8')).until) >= day + DAY_MS,
      { what: `the watermark of group ${group} behind ${textOf(day)}` },
    );
  }
}

test('Parquet files in object storage: DuckDB queries during replacements: each device and day is read completely or not at all', async () => {
  const first = dayOf(clock.now) + DAY_MS;
  await closeDay(first - DAY_MS);
  const [block] = [...PAGE.matchAll(/ {3}```sql\n(.*?) {3}```/gs)].map(([, text]) => text);
  const sql = String(block).replace("'/srv/lake/'", `'${lake}/'`);
  const end = join(root, 'end');
  const reader = run(program('python'), [fileOf('read_lake.py'), sql, end]);
  const devices = ['a', 'b', 'c', 'd'];
  for (let day = first; day < first + 4 * DAY_MS; day += DAY_MS) {
    clock.now = Math.max(clock.now, day + DAY_MS / 2);
    for (const device of devices) await send(device, samplesOf(day, 20));
    await closeDay(day);
    await send('a', samplesOf(day + DAY_MS / 4, 10));
  }
  writeFileSync(end, '');
  const { runs, seen } = JSON.parse((await reader).stdout);
  expect(runs).toBeGreaterThan(10);
  const days = [0, 1, 2, 3].map((index) => textOf(first + index * DAY_MS));
  const whole = days.flatMap((day) => devices.map((device) => [day, device, 's', 20]));
  // The last day is written again when the next one closes.
  const late = days.slice(0, -1).map((day) => [day, 'a', 's', 30]);
  expect(new Set(seen.map(String))).toEqual(new Set([...whole, ...late].map(String)));
});
