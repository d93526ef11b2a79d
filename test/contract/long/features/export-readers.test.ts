import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { ensureReaders } from '../../../../infra/python/ensure.ts';
import { packSamples } from '../../../../schema/packed/pack.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import { useDirectory } from '../../../support/directory.ts';
import { HARD_VALUES } from '../../../support/features/labeled-samples.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { useHistorySystem } from '../../../support/system/history.ts';

const run = promisify(execFile);
const INSTALLS_MS = 300_000;
const READER = fileURLToPath(new URL('read_export.py', import.meta.url));
const QUERY_READER = fileURLToPath(new URL('read_query.py', import.meta.url));
const READERS = ['pyarrow', 'pandas', 'polars', 'duckdb'];
const BEGIN = dayOf(Date.now() - 20 * DAY_MS);

type Row = [
  device: string,
  sensor: string,
  type: string | null,
  unit: string | null,
  ts: number,
  bits: string,
];

const world = useHistorySystem(BEGIN);
let program: (name: string) => string;
const directory = useDirectory('export');

const DEVICES: Array<{
  name: string;
  site?: string;
  sensors: Array<{ sensor_id: string; type?: string; unit?: string }>;
}> = [
  {
    name: 'Pump 1 ü',
    site: 'Süd 1',
    sensors: [{ sensor_id: 'temp', type: 'temperature', unit: 'Cel' }],
  },
  { name: 'meter', sensors: [{ sensor_id: 'power', unit: 'W' }, { sensor_id: '№ 7' }] },
];

/** The rows that were stored. */
const stored: Row[] = [];

function bitsOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

/** Stores the hard values in history, since JSON has no -0. @returns times */
async function storeHour(device: string, sensor: string, hour: number): Promise<number[]> {
  const key = world.history.sensorOf(device, sensor);
  const times = HARD_VALUES.map((_, index) => hour + index * 1001);
  const samples = packSamples(hour, times, HARD_VALUES, 0, times.length);
  await world.history.store.write.history.writeSamples(key, [{ hour, samples }]);
  const statistics = { count: times.length, min: 0, max: 0, sum: 0, first: 0, last: 0 };
  await world.history.store.write.history.writeStatistics(key, hour, statistics, hour + 2 * HOUR_MS);
  return times;
}

beforeAll(async () => {
  const python = await ensureReaders({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  program = python.program;
  const end = BEGIN + 3 * DAY_MS;
  world.clock.now = end;
  for (const { name, site, sensors } of DEVICES) {
    await world.device.birth(name, { site, sensors });
    for (const { sensor_id: sensor, type = null, unit = null } of sensors) {
      for (const hour of [BEGIN + 22 * HOUR_MS, BEGIN + 25 * HOUR_MS]) {
        for (const [index, ts] of (await storeHour(name, sensor, hour)).entries())
          stored.push([name, sensor, type, unit, ts, bitsOf(HARD_VALUES[index] ?? 0)]);
      }
      await world.device.measure(name, [{ sensor_id: sensor, ts: end, value: 21.5 }]);
      stored.push([name, sensor, type, unit, end, bitsOf(21.5)]);
    }
  }
  await world.history.packedUntil(end);
}, INSTALLS_MS);

const sorted = (rows: Row[]) => rows.map((row) => JSON.stringify(row)).sort();

async function read(path: string, reader: string = READER): Promise<Record<string, Json>> {
  const { stdout } = await run(program('python'), [reader, path], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

async function download(address: string, extension: string): Promise<string> {
  const response = await world.system.fetch(address);
  expect(response.status).toBe(200);
  const path = join(directory, `${address.replaceAll(/\W/g, '-')}.${extension}`);
  writeFileSync(path, Buffer.from(await response.arrayBuffer()));
  return path;
}

test.each([
  ['parquet', 'parquet', 'string'],
  ['arrow', 'arrows', 'dictionary<values=string, indices=int32, ordered=0>'],
])(
  'Export in format %s: read by pyarrow, pandas, polars and duckdb: every value is exact',
  async (format, extension, label) => {
    const found = await read(await download(`/export?format=${format}`, extension));
    for (const reader of READERS)
      expect({ reader, rows: sorted(found[reader]) }).toEqual({ reader, rows: sorted(stored) });
    expect(found['schema']).toEqual({
      ts: 'timestamp[ms, tz=UTC]',
      device: label,
      sensor: label,
      type: label,
      unit: label,
      value: 'double',
    });
  },
);

test.each([
  ['parquet', 'parquet'],
  ['arrow', 'arrows'],
])(
  'GET /query as %s: read by pyarrow, pandas, polars and duckdb: the same rows as JSON',
  async (format, ending) => {
    const [from, to] = [BEGIN + 22 * HOUR_MS, BEGIN + 27 * HOUR_MS];
    // Bins of a minute are read from samples, so the hard values are in them. The sensor № 7 has no unit.
    const query = `/query?device=meter&from=${from}&to=${to}&step=1m&aggregate=min,max,last,count&fill=null`;
    const { items } = await world.system.get(`${query}&format=rows`);
    const wanted = items.map((item: { ts: string }) => Object.values({ ...item, ts: Date.parse(item.ts) }));
    expect(wanted).toHaveLength(2 * 5 * 60);
    const found = await read(await download(`${query}&format=${format}`, ending), QUERY_READER);
    for (const reader of READERS) expect({ reader, rows: found[reader] }).toEqual({ reader, rows: wanted });
  },
);

test('npm run export: Parquet files by site and day are written twice: Parquet readers find every stored row once', async () => {
  const settings = world.system.databaseSettings;
  const out = join(directory, 'data-set');
  const dayText = (ts: number) => new Date(ts).toISOString().slice(0, 10);
  for (let time = 0; time < 2; time++) {
    const { code, output } = await startCommand('api/features/export/command.ts', settings, ['--out', out])
      .ended;
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${stored.length} samples in 6 files`),
    });
    const found = await read(out);
    for (const reader of READERS)
      expect({ reader, rows: sorted(found[reader]) }).toEqual({ reader, rows: sorted(stored) });
    const days = [0, 1, 3].map((day) => dayText(BEGIN + day * DAY_MS));
    expect(found['partitions']).toEqual(['', 'Süd 1'].flatMap((site) => days.map((day) => [site, day])));
  }
});

// These tests are the last of this file, because they store further devices.

/** Writes a frame with times as its index, and a column with gaps: PATH, epoch ms of the first row. */
const WRITE_FRAME = `
import sys
import pandas
path, begin = sys.argv[1], pandas.Timestamp(int(sys.argv[2]), unit='ms', tz='UTC')
index = pandas.date_range(begin, periods=200, freq='90s', name='ts')
values = {'a b': [row / 3 for row in range(200)], 'ü': [None if row % 2 else 1e17 + row * 64 for row in range(200)]}
frame = pandas.DataFrame(values, index=index)
frame.to_csv(path) if path.endswith('.csv') else frame.to_parquet(path)
`;

import type { Json } from '../../../support/json.ts';

test.each([
  ['csv', 'text/csv'],
  ['parquet', 'application/vnd.apache.parquet'],
])('Import: %s file of pandas: the stored values equal the written values exactly', async (format, type) => {
  const path = join(directory, `frame.${format}`);
  await run(program('python'), ['-c', WRITE_FRAME, path, String(BEGIN)]);
  const response = await world.system.fetch(`/import?device=pandas-${format}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: readFileSync(path),
  });
  expect(await response.json()).toMatchObject({ rows: 200, samples: 300, refused: 0 });
  const rows = Array.from({ length: 200 }, (_, row) => row);
  const wanted = {
    'a b': rows.map((row) => [BEGIN + row * 90_000, row / 3]),
    ü: rows.filter((row) => row % 2 === 0).map((row) => [BEGIN + row * 90_000, 1e17 + row * 64]),
  };
  for (const [sensor, samples] of Object.entries(wanted)) {
    const address = `/devices/pandas-${format}/sensors/${encodeURIComponent(sensor)}/measurements`;
    const { items } = await world.system.get(`${address}?order=asc&limit=1000`);
    expect(items.map(({ ts, value }: { ts: string; value: string }) => [Date.parse(ts), value])).toEqual(
      samples,
    );
  }
});
