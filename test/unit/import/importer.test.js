import { expect, test } from '@jest/globals';
import { importStream } from '../../../api/import/index.js';
import { usedBytes } from '../../support/memory.js';

/** @import { RefusedLine } from '../../../api/import/importer.js' */

/** @param {string[]} lines lines of the file for a dry run @param {'csv' | 'ndjson'} [format] */
function dryRun(lines, format) {
  async function* source() {
    yield Buffer.from(lines.join('\n'));
  }
  return dryRunOf(source(), format);
}

/** @param {AsyncIterable<Buffer>} source content of the file @param {'csv' | 'ndjson'} [format] */
async function dryRunOf(source, format = 'ndjson') {
  const resolve = async (/** @type {unknown} */ _, /** @type {Map<string, unknown>} */ sensors) => ({
    device: null,
    known: new Map(Array.from(sensors.keys(), (name) => [name, null])),
    refused: new Map(),
  });
  const ingest = /** @type {any} */ ({
    files: { resolve },
    acceptedTimes: async () => ({ oldest: 0, newest: Number.MAX_SAFE_INTEGER }),
  });
  /** @type {RefusedLine[]} */
  const refused = [];
  const { first } = await importStream(
    ingest,
    { source, format },
    {
      device: undefined,
      skip: 0,
      dryRun: true,
      onRefused: (line) => refused.push(line),
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  return { first, refused };
}

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

test.each(['{"toString":1,"valueOf":1}', '{"a":1}', DEEP])(
  'Import: a device or sensor name is an object or a list (case %#): the line is refused with bad_id',
  async (name) => {
    const { first, refused } = await dryRun([
      `{"ts":1,"device":${name},"sensor":"s","value":1}`,
      `{"ts":1,"device":"d","sensor":${name},"value":1}`,
      '{"ts":1,"device":7,"sensor":true,"value":1}',
    ]);
    expect(refused).toEqual([
      { line: 1, code: 'bad_id', rule: 'the device must be a text' },
      { line: 2, code: 'bad_id', rule: 'the sensor must be a text' },
    ]);
    expect(first).toMatchObject([{ line: 3, device: '7', sensor: 'true' }]);
  },
);

test.each(['"a\\u0000b"', `"${'x'.repeat(500_000)}"`, '{"a":1}'])(
  'Import: type and unit of a sensor are invalid (case %#): the sample is imported without type and unit',
  async (text) => {
    const { first, refused } = await dryRun([
      `{"ts":1,"device":"d","sensor":"s","value":1,"type":${text},"unit":${text}}`,
    ]);
    expect(refused).toEqual([]);
    expect(first).toMatchObject([{ line: 1, type: null, unit: null }]);
  },
);

test('NDJSON import: byte order mark and NaN: the value or line with NaN is refused, other values are imported', async () => {
  const { first, refused } = await dryRun([
    '\ufeff{"ts":1,"device":"d","a":NaN,"b":2}',
    '{"ts":NaN,"device":"d","a":3}',
  ]);
  expect(refused).toMatchObject([
    { line: 1, code: 'not_finite' },
    { line: 2, code: 'bad_timestamp' },
  ]);
  expect(first).toMatchObject([{ line: 1, sensor: 'b', value: 2 }]);
});

test('CSV import: the first row has no cells for device and sensor: this row is refused, and the next row is imported', async () => {
  const { first, refused } = await dryRun(['ts,value,device,sensor', '1,21.5', '2,22,d,s'], 'csv');
  expect(refused).toEqual([{ line: 2, code: 'bad_id', rule: 'the device must not be empty' }]);
  expect(first).toMatchObject([{ line: 3, device: 'd', sensor: 's', value: 22 }]);
});

test('CSV import: each chunk of a large file has a new sensor name: memory use stays below half of the file size', async () => {
  const CHUNKS = 400;
  const ROWS_PER_CHUNK = 50;
  // Spaces fill the rows. The importer trims cells, so its cells are far smaller than the file.
  const row = (/** @type {string} */ sensor) => `1,d,${sensor},1${' '.repeat(1200)}\n`;
  let kept = 0;
  async function* source() {
    const before = usedBytes();
    yield Buffer.from('ts,device,sensor,value\n');
    for (let chunk = 0; chunk < CHUNKS; chunk++)
      yield Buffer.from(row(`temperature-of-room-${chunk}`) + row('s').repeat(ROWS_PER_CHUNK - 1));
    kept = usedBytes() - before;
  }
  expect((await dryRunOf(source(), 'csv')).refused).toEqual([]);
  expect(kept).toBeLessThan((CHUNKS * ROWS_PER_CHUNK * 1200) / 2);
});
