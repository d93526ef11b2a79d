import { expect, test } from '@jest/globals';
import { dryRun } from '../../../support/features/import/dry-run.ts';
import { usedBytes } from '../../../support/memory.ts';

const NDJSON = { format: 'ndjson' } as const;

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

test.each(['{"toString":1,"valueOf":1}', '{"a":1}', DEEP])(
  'Import: a device or sensor name is an object or a list (case %#): the line is refused with bad_id',
  async (name) => {
    const lines = [
      `{"ts":1,"device":${name},"sensor":"s","value":1}`,
      `{"ts":1,"device":"d","sensor":${name},"value":1}`,
      '{"ts":1,"device":7,"sensor":true,"value":1}',
    ];
    const { first, refused } = await dryRun(lines.join('\n'), NDJSON);
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
    const { first, refused } = await dryRun(
      `{"ts":1,"device":"d","sensor":"s","value":1,"type":${text},"unit":${text}}`,
      NDJSON,
    );
    expect(refused).toEqual([]);
    expect(first).toMatchObject([{ line: 1, type: null, unit: null }]);
  },
);

test('NDJSON import: byte order mark and NaN: the value or line with NaN is refused, other values are imported', async () => {
  const { first, refused } = await dryRun(
    '\ufeff{"ts":1,"device":"d","a":NaN,"b":2}\n{"ts":NaN,"device":"d","a":3}',
    NDJSON,
  );
  expect(refused).toMatchObject([
    { line: 1, code: 'not_finite' },
    { line: 2, code: 'bad_timestamp' },
  ]);
  expect(first).toMatchObject([{ line: 1, sensor: 'b', value: 2 }]);
});

test('CSV import: each chunk of a large file has a new sensor name: memory use stays below half of the file size', async () => {
  const CHUNKS = 400;
  const ROWS_PER_CHUNK = 50;
  // Spaces fill the rows. The importer trims cells, so its cells are far smaller than the file.
  const row = (sensor: string) => `1,d,${sensor},1${' '.repeat(1200)}\n`;
  let kept = 0;
  async function* source() {
    const before = usedBytes();
    yield Buffer.from('ts,device,sensor,value\n');
    for (let chunk = 0; chunk < CHUNKS; chunk++)
      yield Buffer.from(row(`temperature-of-room-${chunk}`) + row('s').repeat(ROWS_PER_CHUNK - 1));
    kept = usedBytes() - before;
  }
  expect((await dryRun(source())).refused).toEqual([]);
  expect(kept).toBeLessThan((CHUNKS * ROWS_PER_CHUNK * 1200) / 2);
});
