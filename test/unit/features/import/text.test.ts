import { expect, test } from '@jest/globals';
import { readTime } from '../../../../api/features/import/rows.ts';
import { readCsv, readNdjson } from '../../../../api/features/import/text.ts';
import { readValue } from '../../../../api/features/import/values.ts';

async function rowsOf(read: typeof readCsv, text: string, device?: string) {
  const bytes = Buffer.from(text);
  // Chunks end within lines and within characters.
  async function* source() {
    for (let from = 0; from < bytes.length; from += 7) yield bytes.subarray(from, from + 7);
  }
  const samples = [];
  const malformed = [];
  let end = 0;
  for await (const rows of read(source(), { device })) {
    for (let index = 0; index < rows.device.length; index++)
      samples.push([
        rows.lines[index],
        rows.device[index],
        rows.sensor[index],
        rows.ts[index],
        rows.value[index],
        rows.unit?.[index],
      ]);
    malformed.push(...rows.malformed);
    end = rows.end;
  }
  return { samples, malformed, end };
}

test('CSV import: byte order mark, quotes, semicolons, empty lines: cells are read, malformed rows are listed by line number', async () => {
  const csv =
    '\ufeffTime;Device;"Sensor";Value;Unit\r\n1;Süd;"a;b";2;°C\r\n\r\n2; x ;"a b";"3";\n3;x;"open;4;\n4;x;y;5;V;more\n5;x\n';
  expect(await rowsOf(readCsv, csv)).toEqual({
    samples: [
      [2, 'Süd', 'a;b', '1', '2', '°C'],
      [4, 'x', 'a b', '2', '3', ''],
      [7, 'x', undefined, '5', undefined, undefined],
    ],
    malformed: [
      { line: 5, rule: 'must have an even number of quotes' },
      { line: 6, rule: 'must not have more than 5 cells' },
    ],
    end: 5,
  });
});

test('CSV import: a column for each sensor: each filled cell becomes a sample', async () => {
  const csv = 'timestamp\ta\tb\n1\t2\t\n2\t\t3\n';
  expect((await rowsOf(readCsv, csv, 'd')).samples).toEqual([
    [2, 'd', 'a', '1', '2', null],
    [3, 'd', 'b', '2', '3', null],
  ]);
});

test('CSV import: no column of times, no device or an empty file: refused with bad_file', async () => {
  for (const csv of ['a,b\n1,2\n', 'ts,sensor,value\n1,a,2\n', '']) {
    await expect(rowsOf(readCsv, csv)).rejects.toMatchObject({ code: 'bad_file' });
  }
});

test.each([
  [
    'ts,device,variable,value',
    'The column value needs a column named sensor. Name it with `sensor_column=…`.',
  ],
  [
    'ts,device,type,Value,unit',
    'The column Value needs a column named sensor. Name it with `sensor_column=…`.',
  ],
  ['ts,device,sensor,reading', 'The column sensor needs a column named value.'],
  ['ts,device,sensor_id', 'The column sensor_id needs a column named value.'],
  [
    'Date,Time,device,a',
    'The columns Date and Time both mean the time of a row. Choose with `time=Date`, or join them with `time=Date,Time`.',
  ],
  ['Zeit,Temp', 'Its columns are `Zeit`, `Temp`. Name the column with the time, for example `time=Zeit`.'],
])('Import: unusable columns %s: CSV is bad_file, the NDJSON line is refused', async (names, message) => {
  const text = expect.stringContaining(message);
  await expect(rowsOf(readCsv, `${names}\n1,2,3,4,5\n`)).rejects.toMatchObject({
    code: 'bad_file',
    message: text,
  });
  const object = JSON.stringify(Object.fromEntries(names.split(',').map((name) => [name, 1])));
  expect(await rowsOf(readNdjson, object)).toEqual({
    samples: [],
    malformed: [{ line: 1, rule: text }],
    end: 1,
  });
});

test.each([
  ['ts,value', '1,2'],
  [',ts,value', '0,1,2'],
  ['__index_level_0__,ts,value', '0,1,2'],
  ['ts,device,site,value', '1,d,here,2'],
])('CSV import: columns %s: the column named value becomes a sensor', async (names, row) => {
  expect(await rowsOf(readCsv, `${names}\n${row}\n`, 'd')).toEqual({
    samples: [[2, 'd', 'value', '1', '2', null]],
    malformed: [],
    end: 1,
  });
});

test('CSV import: two columns have the same name: bad_file, because one column would be lost', async () => {
  await expect(rowsOf(readCsv, 'ts,a,b,a\n1,2,3,4\n', 'd')).rejects.toMatchObject({
    code: 'bad_file',
    message: 'Two columns are named a. Rename one.',
  });
});

test('Import: more than 2000 columns: a CSV file is bad_file, an NDJSON line is refused', async () => {
  const names = Array.from({ length: 2000 }, (_, index) => `s${index}`);
  await expect(rowsOf(readCsv, `ts,${names}\n1,2\n`, 'd')).rejects.toMatchObject({ code: 'bad_file' });
  const object = JSON.stringify({ ts: 1, ...Object.fromEntries(names.map((name) => [name, 1])) });
  expect(await rowsOf(readNdjson, object, 'd')).toMatchObject({
    samples: [],
    malformed: [{ line: 1, rule: 'There are more than 2000 columns.' }],
  });
});

test('CSV import: 1,999 sensor columns: batches have fewer than 22,000 samples, and no sample is lost', async () => {
  const row = `1${',2'.repeat(1999)}\n`;
  async function* source() {
    yield Buffer.from(`ts,${Array.from({ length: 1999 }, (_, index) => `s${index}`)}\n${row.repeat(50)}`);
  }
  const counts = [];
  for await (const { lines } of readCsv(source(), { device: 'd' })) counts.push(lines.length);
  expect(Math.max(...counts)).toBeLessThan(22_000);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50 * 1999);
});

test('NDJSON import: 12,001 lines, more than one batch: all lines are read', async () => {
  const lines = Array.from({ length: 12_001 }, (_, ts) =>
    JSON.stringify({ ts, device: 'd', sensor: 's', value: ts / 2 }),
  );
  const { samples, end } = await rowsOf(readNdjson, lines.join('\n'));
  expect(end).toBe(12_001);
  expect(samples).toEqual(lines.map((_, ts) => [ts + 1, 'd', 's', ts, ts / 2, undefined]));
});

test.each([
  ['1.5', 1.5],
  [' -2e3 ', -2000],
  ['.5', 0.5],
  ['-0', -0],
  ['1e400', Number.NaN],
  ['nan', Number.NaN],
  [Number.POSITIVE_INFINITY, Number.NaN],
  [7n, 7],
  ['0x10', null],
  ['', null],
  ['1,5', null],
  [true, 1],
  ['False', 0],
  ['\u22122.5', -2.5],
])('Import: cell %p in a column of values: read as %p', (raw, value) => {
  expect(readValue(raw)).toBe(value);
});

test.each([
  ['2026-11-21T00:00:00Z', Date.UTC(2026, 10, 21)],
  ['2026-11-21 00:00:00', Date.UTC(2026, 10, 21)],
  ['2026-11-21T01:00:00+01:00', Date.UTC(2026, 10, 21)],
  ['1763683200000', 1_763_683_200_000],
  [1_763_683_200_000n, 1_763_683_200_000],
  [1.5, null],
  ['21.11.2026', null],
  [null, null],
])('Import: cell %p in a column of times: read as %p', (raw, time) => {
  expect(readTime(raw)).toBe(time);
});
