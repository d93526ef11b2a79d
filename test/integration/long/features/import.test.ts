import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
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

  test('Import over HTTP: CSV with a column for each sensor: cells are stored as samples, empty cells are skipped', async () => {
    const csv = `timestamp,a,b\n${time(BEGIN)},1,2\n${time(BEGIN + 60_000)},,3\n`;
    expect((await send('text/csv', csv)).answer).toMatchObject({ code: 'bad_file' });
    expect((await send('text/csv', csv, 'device=wide')).answer).toMatchObject({
      rows: 2,
      samples: 3,
      refused: 0,
    });
    expect(await stored('wide', 'a')).toEqual([[BEGIN, 1]]);
    expect(await stored('wide', 'b')).toEqual([
      [BEGIN, 2],
      [BEGIN + 60_000, 3],
    ]);
  });

  test('Import over HTTP: NDJSON with one sample per line, or a member for each sensor: samples are stored, and invalid lines refused', async () => {
    const lines = [
      JSON.stringify({ ts: BEGIN, device: 'nd', sensor: 'x', value: 1.25 }),
      JSON.stringify({ time: time(BEGIN + 1), device: 'nd', x: 2, y: 3 }),
      'null',
      '{"ts":',
      '',
      JSON.stringify({ ts: BEGIN + 2, device: 'nd', sensor: 'x', value: true }),
    ].join('\n');
    const { answer } = await send('application/x-ndjson', lines);
    expect(answer).toMatchObject({ rows: 6, samples: 4, refused: 2 });
    expect(
      answer.refused_lines.map(({ line, code }: { line: string; code: string }) => [line, code]),
    ).toEqual([
      [3, 'malformed'],
      [4, 'malformed'],
    ]);
    expect(await stored('nd', 'x')).toEqual([
      [BEGIN, 1.25],
      [BEGIN + 1, 2],
      [BEGIN + 2, 1],
    ]);
    expect(await stored('nd', 'y')).toEqual([[BEGIN + 1, 3]]);
  });

  test('Import over HTTP: CSV has a site column: a new device gets the site of its first row, a known device keeps its own site', async () => {
    const long = `ts,device,sensor,value,site\n${BEGIN},at-a,s,1,Hall A\n${BEGIN},at-b,s,1,Hall B\n${BEGIN + 1},at-a,s,2,Hall C\n`;
    const dry = await send('text/csv', long, 'dry_run=true');
    expect(dry.answer.first.map(({ site }: { site: string }) => site)).toEqual([
      'Hall A',
      'Hall B',
      'Hall C',
    ]);
    expect((await send('text/csv', long)).answer).toMatchObject({ samples: 3, refused: 0 });
    const wide = `ts,device,site,s,t\n${BEGIN + 2},at-a,Hall D,3,4\n${BEGIN},at-c,Hall B,1,2\n`;
    expect((await send('text/csv', wide)).answer).toMatchObject({ samples: 4, refused: 0 });
    for (const [site, names] of Object.entries({
      'Hall A': ['at-a'],
      'Hall B': ['at-b', 'at-c'],
      'Hall D': [],
    })) {
      const { items } = await world.system.get(`/devices?site=${encodeURIComponent(site)}`);
      expect(items.map(({ name }: { name: string }) => name).sort()).toEqual(names);
    }
    const { items } = await world.system.get('/latest?site=Hall%20A');
    expect(items.map(({ name }: { name: string }) => name).sort()).toEqual(['s', 't']);
  });

  test('Import over HTTP: dry run: the answer has the first samples, and nothing is stored or registered', async () => {
    const csv = `ts,device,sensor,value\n${BEGIN},ghost,s,1\n${BEGIN + 1},ghost,s,nothing\n`;
    const { answer } = await send('text/csv', csv, 'dry_run=true');
    expect(answer).toMatchObject({ rows: 2, samples: 1, refused: 1 });
    expect(answer.first).toEqual([
      {
        line: 2,
        device: 'ghost',
        sensor: 's',
        ts: time(BEGIN),
        local: null,
        value: 1,
        type: null,
        unit: null,
        site: null,
      },
    ]);
    expect((await world.system.fetch('/devices/ghost')).status).toBe(404);
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

  test('Import over HTTP: compressed body: refused, and the answer has the accepted coding', async () => {
    const response = await world.system.fetch('/import?device=zipped', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      body: gzipSync('{"ts":1,"s":1}'),
    });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect(await response.json()).toMatchObject({ code: 'unknown_format' });
  });

  test('Import over HTTP: unknown content type, CSV without a time column or broken Parquet: refused as unknown_format or bad_file', async () => {
    expect(await send('application/xml', '<a/>')).toMatchObject({
      status: 415,
      answer: { code: 'unknown_format' },
    });
    expect(await send('text/csv', 'a,b\n1,2\n', 'device=d')).toMatchObject({
      status: 400,
      answer: { code: 'bad_file' },
    });
    expect(await send('application/vnd.apache.parquet', 'PAR1')).toMatchObject({
      status: 400,
      answer: { code: 'bad_file' },
    });
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

  /**
   * Writes a file of 12,000 rows, and the state of an earlier run that committed 10,000 of them.
   * @param changes of the state
   * @param last value of the last row
   * @returns path of the file
   */
  function writeInterrupted(device: string, changes?: object, last: string | number = 11_999): string {
    const path = join(directory, `${device}.csv`);
    const values = Array.from({ length: 12_000 }, (_, i) => (i === 11_999 ? last : i));
    const rows = values.map((value, i) => `${begin + i * 1000},${device},s,${value}`);
    writeFileSync(path, `ts,device,sensor,value\n${rows.join('\n')}\n`);
    const { size, mtimeMs } = statSync(path);
    const { keyspace, contactPoints } = target.config.cql;
    const state = { size, mtimeMs, device: null, keyspace, contactPoints, rows: 10_000, ...changes };
    writeFileSync(`${path}.import.json`, JSON.stringify(state));
    return path;
  }

  test(
    'npm run import: earlier run was interrupted: the next run continues after its committed rows',
    async () => {
      const { code, output } = await run(writeInterrupted('resumed'));
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringContaining('12000 rows, 2000 samples stored'),
      });
      const page = await target.get('/devices/resumed/sensors/s/measurements?order=asc&limit=1');
      expect(page.items).toEqual([{ ts: time(begin + 10_000_000), value: 10_000 }]);
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

  test(
    'npm run import: only the resumed run refuses a line: the file of refused lines has a header',
    async () => {
      const path = writeInterrupted('refusing', {}, 'warm');
      expect((await run(path)).code).toBe(1);
      expect(readFileSync(`${path}.refused.csv`, 'utf8')).toBe(
        'line,code,rule\n12001,not_numeric,"column `value`: `warm` must be a number; to skip such cells, add `--missing warm`"\n',
      );
    },
    PROCESSES_MS,
  );

  test(
    'npm run import: corrected file is imported again: the file of refused lines of the first import is removed',
    async () => {
      const path = join(directory, 'corrected.csv');
      writeFileSync(path, `ts,device,sensor,value\n${begin},corrected,s,warm\n`);
      expect((await run(path)).code).toBe(1);
      expect(existsSync(`${path}.refused.csv`)).toBe(true);
      writeFileSync(path, `ts,device,sensor,value\n${begin},corrected,s,21\n`);
      // A shell expands `*.csv` to both files.
      expect((await run(path, `${path}.refused.csv`)).code).toBe(0);
      expect(existsSync(`${path}.refused.csv`)).toBe(false);
    },
    PROCESSES_MS,
  );

  test.each([
    ['device', { device: 'another' }],
    ['keyspace', { keyspace: 'another' }],
    ['database', { contactPoints: ['192.0.2.1:9042'] }],
  ])(
    'npm run import: earlier run was interrupted, with another %s: the next run begins with the first row',
    async (name, changes) => {
      const { code, output } = await run(writeInterrupted(`begun-${name}`, changes));
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringContaining('12000 rows, 12000 samples stored'),
      });
    },
    PROCESSES_MS,
  );
});
