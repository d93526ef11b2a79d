import {
  type Data,
  type DataType,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import type { SchemaElement } from 'hyparquet';
import { BatchBytes } from './arrow.ts';
import { ChunkWriter, openParquet, TEXT_COLUMN, TIME_COLUMN } from './parquet.ts';

/** A `time` is RFC 3339. Only cells of the kinds `text` and `number` may be null. */
export type ColumnKind = 'time' | 'text' | 'number' | 'count';
export type TableColumn = { name: string; kind: ColumnKind };
/** by the name of the column */
export type Row = Record<string, string | number | boolean | null>;

/** Rows that are encoded without a pause. Other requests of the process are served in between. */
const ROWS_AT_ONCE = 2 ** 13;

const ARROW_TYPES: Record<ColumnKind, DataType> = {
  time: new TimestampMillisecond('UTC'),
  text: new Utf8(),
  number: new Float64(),
  count: new Int64(),
};

const PARQUET_TYPES: Record<ColumnKind, Omit<SchemaElement, 'name'>> = {
  time: TIME_COLUMN,
  text: TEXT_COLUMN,
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  count: { type: 'INT64', repetition_type: 'REQUIRED' },
};

export async function* encodeParquetTable(
  columns: TableColumn[],
  source: AsyncIterable<Iterable<Row>>,
): AsyncGenerator<Uint8Array, void> {
  const writer = new ChunkWriter();
  const file = openParquet(writer, [
    { name: 'rows', num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, ...PARQUET_TYPES[kind] })),
  ]);
  for await (const rows of chunksOf(source)) {
    const columnData = columns.map((column) => parquetColumn(column, cellsOf(rows, column)));
    await file.write({ columnData, rowGroupSize: rows.length });
    yield writer.take();
  }
  await file.finish();
  yield writer.take();
}

function parquetColumn({ name, kind }: TableColumn, data: unknown[]) {
  // Texts are often names that repeat, so Snappy shortens them. A page without values is not compressed.
  const isCompressed = kind === 'text' && data.some((cell) => cell !== null);
  return {
    name,
    data,
    // Plain values are written, because the dictionaries of hyparquet-writer replace -0 by 0.
    encoding: 'PLAIN' as const,
    codec: isCompressed ? ('SNAPPY' as const) : ('UNCOMPRESSED' as const),
  };
}

/** Rows that are encoded without a pause are one batch. */
export async function* encodeArrowTable(
  columns: TableColumn[],
  source: AsyncIterable<Iterable<Row>>,
): AsyncGenerator<Uint8Array, void> {
  const schema = new Schema(
    columns.map(({ name, kind }) => new Field(name, ARROW_TYPES[kind], kind === 'text' || kind === 'number')),
  );
  const bytes = new BatchBytes();
  const writer = new RecordBatchStreamWriter().reset(bytes, schema);
  for await (const rows of chunksOf(source)) {
    const children = columns.map((column) => arrowColumn(column, cellsOf(rows, column)));
    const data = makeData({ type: new Struct(schema.fields), length: rows.length, nullCount: 0, children });
    writer.write(new RecordBatch(schema, data));
    yield bytes.take();
  }
  writer.finish();
  yield bytes.take();
}

/** `cells`: one or more. */
function arrowColumn({ kind }: TableColumn, cells: unknown[]): Data {
  const [data] = vectorFromArray(cells, ARROW_TYPES[kind]).data;
  return data as Data;
}

/** Chunks are never empty. */
async function* chunksOf(source: AsyncIterable<Iterable<Row>>): AsyncGenerator<Row[], void> {
  let rows: Row[] = [];
  for await (const some of source) {
    for (const row of some) {
      rows.push(row);
      if (rows.length < ROWS_AT_ONCE) continue;
      yield rows;
      rows = [];
    }
  }
  if (rows.length > 0) yield rows;
}

/** 64-bit integers as BigInt. */
function cellsOf(rows: Row[], { name, kind }: TableColumn): unknown[] {
  if (kind === 'time') return rows.map((row) => BigInt(Date.parse(String(row[name]))));
  if (kind === 'count') return rows.map((row) => BigInt(Number(row[name])));
  return rows.map((row) => row[name] ?? null);
}
