import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { encodeParquet } from '../../../../api/features/shared/columns/parquet.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import { useDirectory } from '../../../support/directory.ts';
import { each, HARD_VALUES, labelsNamed, samplesOf } from '../../../support/features/labeled-samples.ts';
import { type Sample, unionOf } from '../../../support/history/index.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { useHistorySystem } from '../../../support/system/history.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

/** Time of a test that starts several processes, in ms. */
const PROCESSES_MS = 300_000;

const NOW = dayOf(Date.now()) - 10 * DAY_MS + 12.5 * HOUR_MS;
const BEGIN = dayOf(NOW) - 300 * DAY_MS;

const world = useHistorySystem(BEGIN);
const { clock } = world;
const directory = useDirectory('import');
beforeAll(async () => {
  clock.now = NOW;
  await world.history.packedUntil(dayOf(NOW) - DAY_MS);
});

async function send(type: string, body: string | Uint8Array<ArrayBuffer>, query: string = '') {
  const response = await world.system.fetch(`/import?${query}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  return { status: response.status, answer: await response.json() };
}

async function stored(device: string, sensor: string): Promise<Sample[]> {
  const text = await (
    await world.system.fetch(`/devices/${device}/sensors/${sensor}/measurements?format=csv&order=asc`)
  ).text();
  return text
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(','))
    .map(([ts, value]) => [Date.parse(String(ts)), Number(value)]);
}

const time = (ms: number) => new Date(ms).toISOString();

describe('Import over HTTP', () => {
  test('Import over HTTP: CSV with one sample per row: times, types and units are stored, and invalid lines are listed', async () => {
    const csv = [
      'Time;Device;Sensor;Value;Unit;Type',
      `${time(BEGIN)};old;temp;21.5;Cel;temperature`,
      `${BEGIN + 1};old;temp;-2.5e3;Cel;temperature`,
      `${time(BEGIN + 2)};old;temp;warm;Cel;temperature`,
      `${time(BEGIN + 3)};old;temp;NaN;Cel;temperature`,
      `yesterday;old;temp;1;Cel;temperature`,
      `${Math.floor(BEGIN / 1000)};old;temp;1;Cel;temperature`,
      `${time(NOW + DAY_MS)};old;temp;1;Cel;temperature`,
      `${time(BEGIN)};${'x'.repeat(200)};temp;1;;`,
      `${time(BEGIN)};old;temp;1;Cel;temperature;more`,
      `${time(NOW)};old;hum;40;;`,
    ].join('\r\n');
    const { status, answer } = await send('text/csv', csv);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ rows: 10, samples: 3, refused: 7, first: [] });
    expect(
      answer.refused_lines
        .map(({ line, code }: { line: string; code: string }) => [line, code])
        .toSorted((a: never, b: never) => a[0] - b[0]),
    ).toEqual([
      [4, 'not_numeric'],
      [5, 'not_finite'],
      [6, 'bad_timestamp'],
      [7, 'too_old'],
      [8, 'in_future'],
      [9, 'bad_id'],
      [10, 'malformed'],
    ]);
    expect(JSON.stringify(answer.refused_lines)).toContain('did you send seconds?');
    expect(await stored('old', 'temp')).toEqual([
      [BEGIN, 21.5],
      [BEGIN + 1, -2500],
    ]);
    expect(await stored('old', 'hum')).toEqual([[NOW, 40]]);
    const { sensors } = await world.system.get('/devices/old');
    expect(sensors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'temp', type: 'temperature', unit: 'Cel', value: -2500 }),
        expect.objectContaining({ name: 'hum', type: null, unit: null, value: 40 }),
      ]),
    );
  });

  test('Import over HTTP: the hours already have packed or late samples: earlier and imported samples are kept, the greater value of each time wins', async () => {
    const hours = (['packed', 'packed, then late', 'late alone', 'batches', 'nothing'] as const).map(
      (fate, index) => {
        const hour = dayOf(NOW) - DAY_MS + index * 2 * HOUR_MS;
        const samples: Sample[] = Array.from({ length: fate === 'nothing' ? 0 : 40 }, (_, i) => [
          hour + i * 60_000,
          i,
        ]);
        return { hour, fate, samples };
      },
    );
    const ordered = [
      ...hours.filter(({ fate }) => fate !== 'batches'),
      ...hours.filter(({ fate }) => fate === 'batches'),
    ].map((one, index) => {
      const hour = dayOf(NOW) - DAY_MS + index * 2 * HOUR_MS;
      return {
        ...one,
        hour,
        samples: one.samples.map(([, value], i) => [hour + i * 60_000, value] as Sample),
      };
    });
    const before = await world.lay('mixed', ordered);
    clock.now = NOW;
    const imported: Sample[] = ordered.flatMap(({ hour }) =>
      Array.from({ length: 50 }, (_, i) => [hour + i * 45_000, i % 2 === 0 ? i * 2 : -i] as Sample),
    );
    const csv = ['ts,device,sensor,value', ...imported.map(([ts, value]) => `${ts},mixed,s,${value}`)].join(
      '\n',
    );
    const union = unionOf([...before, ...imported]);
    for (let run = 0; run < 2; run++) {
      expect((await send('text/csv', csv)).answer).toMatchObject({ samples: imported.length, refused: 0 });
      expect(await stored('mixed', 's')).toEqual(union);
    }
    const { points } = await world.system.get(
      `/devices/mixed/sensors/s/series?from=${dayOf(NOW) - DAY_MS}&to=${NOW}&points=40`,
    );
    for (const { ts, count, min, max } of points) {
      const bin = union
        .filter(([at]) => at >= Date.parse(ts) && at < Date.parse(ts) + HOUR_MS)
        .map(([, value]) => value);
      expect({ ts, count, min, max }).toEqual({
        ts,
        count: bin.length,
        min: Math.min(...bin),
        max: Math.max(...bin),
      });
    }
    expect(points.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(union.length);
  });
});

describe('npm run import', () => {
  let target: TestSystem;
  const samples: ReturnType<typeof samplesOf>[] = [];
  const begin = dayOf(Date.now()) - 200 * DAY_MS;
  beforeAll(async () => {
    target = await startTestSystem();
    for (const [device, sensor, unit] of [
      ['pump', 'temp', 'Cel'],
      ['pump', '№ 7', null],
      ['meter', 'power', 'W'],
    ]) {
      const labels = labelsNamed({
        device: String(device),
        sensor: String(sensor),
        type: null,
        unit: unit ?? null,
      });
      samples.push(
        samplesOf(
          labels,
          Array.from({ length: 6000 }, (_, i) => [
            begin + i * 30_001,
            HARD_VALUES[i % HARD_VALUES.length] ?? 0,
          ]),
        ),
      );
    }
  });
  afterAll(() => target?.stop());

  const start = (...args: string[]) =>
    startCommand('api/features/import/command/index.ts', target.databaseSettings, args);

  async function run(...args: string[]) {
    const { code, output } = await start(...args).ended;
    return { code, output };
  }

  /** @returns all rows of an export */
  async function exported(): Promise<Array<Record<string, unknown>>> {
    const file = await (await target.fetch('/export')).arrayBuffer();
    return parquetReadObjects({ file });
  }

  /** @returns the rows of history, as stored */
  async function historyRows(): Promise<string[]> {
    const { rows } = await target.execute('SELECT device_id, sensor_id, day, hour, digest FROM history', [], {
      fetchSize: 5000,
    });
    return rows.map((row) => JSON.stringify(row)).sort();
  }

  test(
    'npm run import: an exported file is imported into an empty keyspace: a new export is equal, and a second import changes nothing',
    async () => {
      const path = join(directory, 'all.parquet');
      writeFileSync(path, await buffer(encodeParquet(each(samples))));
      const { code, output } = await run(path);
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringContaining('18000 samples stored, 0 refused'),
      });
      const order = (row: Record<string, unknown>) =>
        `${row['device']} ${row['sensor']} ${Number(row['ts'])}`;
      const wanted = (await parquetReadObjects({ file: new Uint8Array(readFileSync(path)).buffer })).sort(
        (a, b) => (order(a) < order(b) ? -1 : 1),
      );
      const found = (await exported()).sort((a, b) => (order(a) < order(b) ? -1 : 1));
      expect(found).toHaveLength(18_000);
      const isSame = (row: Record<string, unknown>, index: number) =>
        Object.entries(row).every(([name, value]) => {
          const wantedValue = wanted[index]?.[name];
          // A time is a Date in one export, and epoch ms in the other.
          return name === 'ts' ? Number(value) === Number(wantedValue) : Object.is(value, wantedValue);
        });
      expect(found.findIndex((row, index) => !isSame(row, index))).toBe(-1);
      const before = await historyRows();
      expect(before.length).toBeGreaterThan(100);
      expect((await run(path)).code).toBe(0);
      expect(await historyRows()).toEqual(before);
      expect((await exported()).length).toBe(18_000);
    },
    PROCESSES_MS,
  );

  test(
    'npm run import: file has refused lines: exits with code 1, and writes a file with their reasons',
    async () => {
      const path = join(directory, 'bad.csv');
      writeFileSync(path, `ts,sensor,value\n${begin},s,1\n${begin + 1},s,"a ""text"""\n${begin + 2},s,2\n`);
      const dry = await run(path, '--device', 'csv', '--dry-run');
      expect(dry).toMatchObject({
        code: 1,
        output: expect.stringContaining('line 3: not_numeric: column `value`: `a "text"` must be a number'),
      });
      expect(dry.output).toContain(`line 2  ${time(begin)}  csv  s  1`);
      expect((await target.fetch('/devices/csv')).status).toBe(404);
      const { code, output } = await run(path, '--device', 'csv');
      expect({ code, output }).toMatchObject({
        code: 1,
        output: expect.stringContaining('3 rows, 2 samples stored, 1 refused'),
      });
      expect(readFileSync(`${path}.refused.csv`, 'utf8')).toBe(
        'line,code,rule\n3,not_numeric,"column `value`: `a ""text""` must be a number; to skip such cells, add `--missing \'a ""text""\'`"\n',
      );
    },
    PROCESSES_MS,
  );

  test(
    'npm run import: killed after a commit: the same command continues, and every sample is stored',
    async () => {
      const count = 2_400_000;
      const path = join(directory, 'killed.parquet');
      const times = Float64Array.from({ length: count }, (_, index) => begin + index * 1000);
      const values = Float64Array.from({ length: count }, (_, index) => index % 100);
      const labels = labelsNamed({ device: 'killed', sensor: 's' });
      writeFileSync(path, await buffer(encodeParquet(each([{ labels, times, values, from: 0, to: count }]))));
      const first = start(path);
      await until(() => existsSync(`${path}.import.json`), { withinMs: PROCESSES_MS / 2, what: 'a commit' });
      await first.kill();
      const { rows } = JSON.parse(readFileSync(`${path}.import.json`, 'utf8'));
      expect(rows).toBeGreaterThan(0);
      const { code, output } = await run(path);
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringContaining(`${count} rows, ${count - rows} samples stored, 0 refused`),
      });
      const range = `from=${begin}&to=${begin + count * 1000}`;
      const { series } = await target.get(`/query?device=killed&${range}&aggregate=count,sum`);
      expect(series).toMatchObject([{ count: [count], sum: [(count / 100) * 4950] }]);
    },
    PROCESSES_MS,
  );
});
