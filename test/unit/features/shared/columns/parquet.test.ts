import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { encodeParquet } from '../../../../../api/features/shared/columns/parquet.ts';
import type { Samples } from '../../../../../api/features/shared/columns/rows.ts';
import { each, HARD_VALUES, labelsNamed, samplesOf } from '../../../../support/features/labeled-samples.ts';

const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 10, 21);

async function write(samples: Samples[]) {
  const bytes = await buffer(encodeParquet(each(samples)));
  const file = new Uint8Array(bytes).buffer;
  return { file, groups: parquetMetadata(file).row_groups };
}

async function read(file: ArrayBuffer): Promise<Array<Record<string, unknown>>> {
  const rows = await parquetReadObjects({ file });
  return rows.map(({ ts, ...row }) => ({ ts: ts.getTime(), ...row }));
}

/** Returns the expected rows, in order. */
const rowsOf = (samples: Samples[]) =>
  samples.flatMap(({ labels, times, values, from, to }) =>
    Array.from({ length: to - from }, (_, row) => ({
      ts: times[from + row],
      ...labels,
      value: values[from + row],
    })),
  );

test('Parquet export: extreme doubles, missing labels, names outside ASCII: decoded rows equal the samples exactly', async () => {
  const samples = [
    samplesOf(
      labelsNamed(),
      HARD_VALUES.map((value, index) => [BEGIN + index, value]),
    ),
    samplesOf(labelsNamed({ device: 'Anlage Süd · 1', sensor: '温度', type: null }), [
      [BEGIN - 9 * HOUR, 1.5],
    ]),
    samplesOf(labelsNamed({ unit: null, site: 'Halle Ä' }), [[BEGIN + 400 * 24 * HOUR, -0]]),
    samplesOf(labelsNamed({ unit: null, type: null }), []),
  ];
  const { file } = await write(samples);
  const rows = await read(file);
  expect(rows).toEqual(rowsOf(samples));
  for (const [index, row] of rowsOf(samples).entries())
    expect(Object.is(rows[index]?.['value'], row.value)).toBe(true);
});

test('Parquet export: no samples: the file has no rows', async () => {
  const { file, groups } = await write([]);
  expect(groups).toEqual([]);
  expect(await read(file)).toEqual([]);
});

test('Parquet export: random times and values: the decoded rows equal the samples bit by bit', async () => {
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(...HARD_VALUES),
    fc.integer({ min: -3, max: 3 }),
  );
  const times = fc.uniqueArray(fc.integer({ min: -(2 ** 41), max: 2 ** 42 }), {
    minLength: 1,
    maxLength: 400,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(times, { maxLength: 4 }), fc.infiniteStream(value), async (series, values) => {
      const samples = series.map((list, index) =>
        samplesOf(
          labelsNamed({ sensor: `s${index % 3}`, unit: index % 2 ? null : 'Cel' }),
          list.map((ts) => [ts, Number(values.next().value)]),
        ),
      );
      const rows = await read((await write(samples)).file);
      const expected = rowsOf(samples);
      expect(rows).toEqual(expected);
      expect(rows.every((row, index) => Object.is(row['value'], expected[index]?.value))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('Parquet export: three row groups, few or many distinct values: the statistics of each row group are exact', async () => {
  const count = 150_000;
  const signals: Array<[string, (index: number) => number]> = [
    ['few', (index) => Math.round(200 * Math.sin(index / 900)) / 10],
    ['many', (index) => Math.sin(index) * 1e-7],
  ];
  const samples = signals.map(([sensor, signal]) =>
    samplesOf(
      labelsNamed({ sensor }),
      Array.from({ length: count }, (_, index) => [BEGIN + index * 997, signal(index)]),
    ),
  );
  const { file, groups } = await write(samples);
  const rows = await read(file);
  const expected = rowsOf(samples);
  expect(rows).toHaveLength(expected.length);
  const isSame = (row: Record<string, unknown>, index: number) =>
    Object.entries(row).every(([name, value]) => Object.is(value, Object(expected[index])[name]));
  expect(rows.findIndex((row, index) => !isSame(row, index))).toBe(-1);
  expect(groups.length).toBe(3);
  let first = 0;
  for (const { num_rows: length, columns } of groups) {
    const group = expected.slice(first, first + Number(length));
    first += Number(length);
    const bounds = columns.map(({ meta_data: meta }) => {
      const { min_value: min, max_value: max, null_count: nulls } = meta?.statistics ?? {};
      return { min, max, nulls };
    });
    const values = group.map((row) => Number(row.value));
    const times = group.map((row) => Number(row.ts));
    const sensors = group.map((row) => row.sensor).sort();
    expect(bounds[0]).toEqual({
      min: new Date(times.reduce((a, b) => Math.min(a, b))),
      max: new Date(times.reduce((a, b) => Math.max(a, b))),
      nulls: 0n,
    });
    expect(bounds[2]).toEqual({ min: sensors[0], max: sensors.at(-1), nulls: 0n });
    expect(bounds.at(-1)).toEqual({
      min: values.reduce((a, b) => Math.min(a, b)),
      max: values.reduce((a, b) => Math.max(a, b)),
      nulls: 0n,
    });
  }
  // The signal with few distinct values must be stored as a dictionary: 2 bytes a row are not enough for doubles.
  expect(file.byteLength).toBeLessThan(count * (2 + 9));
});
