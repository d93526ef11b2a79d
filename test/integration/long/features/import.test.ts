import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { encodeParquet } from '../../../../api/features/shared/columns/parquet.ts';
import { DAY_MS, dayOf } from '../../../../schema/rules.ts';
import { useDirectory } from '../../../support/directory.ts';
import { each, HARD_VALUES, labelsNamed, samplesOf } from '../../../support/features/labeled-samples.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

/** Time of a test that starts several processes, in ms. */
const PROCESSES_MS = 300_000;

const directory = useDirectory('import');

const time = (ms: number) => new Date(ms).toISOString();

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

  async function exported(): Promise<Array<Record<string, unknown>>> {
    const file = await (await target.fetch('/export')).arrayBuffer();
    return parquetReadObjects({ file });
  }

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
