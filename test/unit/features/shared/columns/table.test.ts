import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import {
  encodeArrowTable,
  encodeParquetTable,
  type Row,
  type TableColumn,
} from '../../../../../api/features/shared/columns/table.ts';
import { each, HARD_VALUES } from '../../../../support/features/labeled-samples.ts';

const BEGIN = Date.UTC(2026, 10, 21);

const COLUMNS: TableColumn[] = [
  { name: 'ts', kind: 'time' },
  { name: 'device', kind: 'text' },
  { name: 'unit', kind: 'text' },
  { name: 'avg', kind: 'number' },
  { name: 'count', kind: 'count' },
];

const rowOf = (index: number, cells: Row): Row => ({
  ts: new Date(BEGIN + index).toISOString(),
  device: 'Anlage Süd, "1" 温度',
  unit: null,
  avg: null,
  count: 0,
  ...cells,
});

const expected = (rows: Row[]): unknown[][] =>
  rows.map(({ ts, device, unit, avg, count }) => [Date.parse(String(ts)), device, unit, avg, Number(count)]);

async function throughParquet(rows: Row[][]) {
  const file = new Uint8Array(await buffer(encodeParquetTable(COLUMNS, each(rows)))).buffer;
  const found = await parquetReadObjects({ file });
  return {
    rows: found.map(({ ts, device, unit, avg, count }) => [ts.getTime(), device, unit, avg, Number(count)]),
    groups: parquetMetadata(file).row_groups,
  };
}

async function throughArrow(rows: Row[][]) {
  const table = tableFromIPC(await buffer(encodeArrowTable(COLUMNS, each(rows))));
  const found = table.toArray().map((row) => row.toJSON());
  return {
    rows: found.map(({ ts, device, unit, avg, count }) => [Number(ts), device, unit, avg, Number(count)]),
    types: table.schema.fields.map(({ name, type, nullable }) => [name, String(type), nullable]),
  };
}

const ROWS = [
  HARD_VALUES.map((avg, index) => rowOf(index, { avg, count: index })),
  [rowOf(99, {}), rowOf(100, { device: null, unit: '°C', avg: 1.5, count: 2 ** 40 })],
];

test.each([
  ['Parquet', throughParquet],
  ['Arrow', throughArrow],
])('Query result exported as %s: extreme doubles, nulls: decoded rows are equal', async (_, through) => {
  const { rows } = await through(ROWS);
  const wanted = expected(ROWS.flat());
  expect(rows).toEqual(wanted);
  expect(rows.every((row, index) => Object.is(row[3], wanted[index]?.[3]))).toBe(true);
});

test.each([
  ['Parquet', throughParquet],
  ['Arrow', throughArrow],
])('Query result exported as %s: 21,000 rows in three batches: no row is lost', async (_, through) => {
  const rows = [0, 1, 2].map((part) =>
    Array.from({ length: 7000 }, (_, index) => rowOf(part * 7000 + index, { count: index })),
  );
  expect((await through(rows)).rows).toEqual(expected(rows.flat()));
});

test('Query result exported as Parquet: 20,000 rows: the statistics of the second row group are exact', async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => rowOf(index, { avg: Math.sin(index), count: 1 }));
  const { groups } = await throughParquet([rows]);
  expect(groups.map(({ num_rows }) => Number(num_rows))).toEqual([8192, 8192, 3616]);
  const { statistics } = groups[1]?.columns[3]?.meta_data ?? {};
  const values = rows.slice(8192, 16_384).map(({ avg }) => Number(avg));
  expect(statistics).toMatchObject({
    min_value: Math.min(...values),
    max_value: Math.max(...values),
    null_count: 0n,
  });
});
