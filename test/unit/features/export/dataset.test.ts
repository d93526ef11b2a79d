import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { writeDataset } from '../../../../api/features/export/dataset.ts';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-dataset-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const NOW = Date.UTC(2026, 10, 21, 12, 20);
const DAY = Date.UTC(2026, 10, 21);
const WHOLE_DAY = { from: DAY, to: DAY + DAY_MS };
/** Times of two samples on this day, epoch ms. */
const TIMES = [DAY + 8 * HOUR_MS, DAY + 14 * HOUR_MS];

function write(
  { site, times }: { site: string | null; times: number[] },
  options?: Partial<Parameters<typeof writeDataset>[1]>,
) {
  const row = {
    id: '00000000-0000-5000-8000-000000000001',
    deviceId: '00000000-0000-5000-8000-000000000002',
    name: 'heat',
    deviceName: 'oven',
    type: null,
    unit: null,
    site,
    ts: Math.max(...times),
  };
  const store = {
    fleet: { latestPage: async () => ({ rows: [row], next: null }) },
    devices: { retiredAt: async () => null },
  };
  const reading = {
    async *all() {
      yield { times: Float64Array.from(times), values: Float64Array.from(times) };
    },
  };
  return writeDataset({ store, reading, groups: 4 } as never, {
    directory,
    selection: {},
    range: WHOLE_DAY,
    oldest: () => Number.NEGATIVE_INFINITY,
    signal: new AbortController().signal,
    onFile: () => {},
    ...options,
  });
}

const filesOf = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.parquet'))
    .sort();

async function timesIn(path: string): Promise<number[]> {
  const file = new Uint8Array(readFileSync(join(directory, path))).buffer;
  const rows = await parquetReadObjects({ file });
  return rows.map(({ ts }) => ts.getTime());
}

test.each([
  ['a text of umlauts', 'ä'.repeat(64), `site=${'ä'.repeat(64)}`],
  ['a short text', 'hall ä/1', 'site=hall%20%C3%A4%2F1'],
  ['a path', '../../../', 'site=..%2F..%2F..%2F'],
  [
    'a text of slashes',
    '/'.repeat(128),
    'site=a85b73755224ef42365ed693f4ba95be8454da2642cd4759e3f1882d3ff7ddeb',
  ],
])('Data set export: site name is %s: the directory gets a valid name', async (_, site, name) => {
  const { files } = await write({ site, times: [NOW] }, { range: { from: NOW, to: NOW + 1 } });
  expect(files).toBe(1);
  expect(existsSync(join(directory, name))).toBe(true);
});

test.each([
  ['begins within the day', { from: DAY + 12 * HOUR_MS, to: DAY + DAY_MS }],
  ['ends within the day', { from: DAY, to: DAY + 12 * HOUR_MS }],
])('Data set export: second export with a range that %s: the file keeps the whole day', async (_, range) => {
  const sensor = { site: null, times: TIMES };
  await write(sensor);
  await write(sensor, { range });
  expect(filesOf()).toEqual(['site=/day=2026-11-21/part-0.parquet']);
  expect(await timesIn('site=/day=2026-11-21/part-0.parquet')).toEqual(TIMES);
});

test('Data set export: retention removed part of a day: an existing file stays unchanged, a missing file gets the rest', async () => {
  const file = 'site=/day=2026-11-21/part-0.parquet';
  const oldest = () => DAY + 12 * HOUR_MS;
  await write({ site: null, times: TIMES });
  await write({ site: null, times: TIMES }, { oldest });
  expect(await timesIn(file)).toEqual(TIMES);
  rmSync(join(directory, file));
  await write({ site: null, times: TIMES }, { oldest });
  expect(await timesIn(file)).toEqual(TIMES.slice(1));
});
