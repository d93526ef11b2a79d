import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { dryRun } from '../../../support/features/import/dry-run.ts';

const DAY_FIRST = { time_format: 'day-first' };
const COMMA = { decimal: 'comma' };

test.each([
  [
    '1',
    '21,5',
    {},
    'column `Wert`: `21,5` must be a number; did you mean a decimal comma? Add `decimal=comma`',
  ],
  ['1', '1.234,5', {}, '`decimal=comma&thousands=point`'],
  ['1', '1,234.5', {}, '`decimal=point&thousands=comma`'],
  ['1', "1'234.5", {}, '`decimal=point&thousands=apostrophe`'],
  ['1', '1,234', {}, '`decimal=comma` or `decimal=point&thousands=comma`'],
  ['1', '1.234', COMMA, '`decimal=point` or `decimal=comma&thousands=point`'],
  ['1', '21.5 °C', {}, '`21.5 °C` must be a number, without a unit'],
  ['1', '---', {}, 'to skip such cells, add `missing=---`'],
  ['1', '', {}, 'column `Wert`: `` must be a number'],
  [
    '01.11.2026 10:00',
    '1',
    {},
    'column `ts`: `01.11.2026 10:00` must be whole epoch milliseconds or ISO 8601; add `time_format=day-first` or `time_format=month-first`',
  ],
  ['13/11/2026 10:00', '1', { time_format: 'month-first' }, 'add `time_format=day-first`'],
  ['2026-11-01 10:00 Uhr', '1', DAY_FIRST, 'must be a date with the day first'],
  ['46327,5', '1', {}, 'add `time_format=excel`'],
  ['31.02.2026', '1', DAY_FIRST, 'must be a date'],
  ['1793523600', '1', {}, 'Add `time_format=s`'],
  ['1793523600000000000', '1', {}, 'Add `time_format=ns`'],
  [
    '2026-03-29 02:30',
    '1',
    { zone: 'Europe/Berlin' },
    'does not exist in Europe/Berlin, where clocks skip it. Use `zone=+01:00`',
  ],
  [
    '2026-10-25 02:30',
    '1',
    { zone: 'Europe/Berlin' },
    'comes twice in Europe/Berlin, and the order of the rows does not show which one it is. Write the time with its offset (+02:00 or +01:00), or use `zone=+01:00`',
  ],
])(
  'Import: time %p, value %p, options %j: the refusal names column, text and remedy',
  async (ts, value, options, rule) => {
    const times = { oldest: Date.UTC(2020, 0), newest: Date.UTC(2030, 0) };
    const csv = `ts;sensor;Wert\n${ts === '1' ? '2026-11-01T00:00:00Z' : ts};s;${value}\n`;
    const { refused, progress } = await dryRun(csv, { device: 'd', values: 'Wert', times, ...options });
    expect(refused).toEqual([{ line: 2, code: expect.any(String), rule: expect.stringContaining(rule) }]);
    expect(progress).toMatchObject({ rows: 1, samples: 0, refused: 1 });
  },
);

test.each([
  ['one cell in the first line', 'Logger 7\nts,a\n', {}, 'add `header_line=…`'],
  [
    'no column of this name',
    'ts;Wert\n',
    { values: 'Temp' },
    'no column `Temp` (`values=…`). Its columns are `ts`, `Wert`',
  ],
  [
    'the line of names is after the end',
    'ts,a\n',
    { header_line: '9' },
    'the line of `header_line=9` does not exist',
  ],
  ['one sensor for two columns of values', 'ts,a,b\n', { sensor: 's' }, 'Choose one with `values=…`'],
  ['gzip', gzipSync('ts,a\n1,2\n'), {}, 'compressed with gzip. Unpack it'],
  ['zstd', zstdCompressSync('ts,a\n1,2\n'), {}, 'compressed with zstd. Unpack it'],
  ['a sheet of Excel', Buffer.from('PK\x03\x04'), {}, 'save the sheet as CSV'],
  ['an old sheet of Excel', Buffer.from('d0cf11e0a1b11ae1', 'hex'), {}, 'Save the sheet as CSV'],
  ['Parquet that is sent as CSV', Buffer.from('PAR1'), {}, 'Import it as Parquet'],
  ['Windows-1252', Buffer.from('ts,Küche\n1,2\n', 'latin1'), {}, 'seems to be Windows-1252'],
])('CSV import: %s: bad_file with a remedy', async (_, content, options, message) => {
  await expect(dryRun(content, { device: 'd', ...options })).rejects.toMatchObject({
    code: 'bad_file',
    message: expect.stringContaining(message),
  });
});
