import {
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
import { BatchBytes } from './arrow.js';
import { ChunkWriter, OPTIONAL_TEXT, openParquet, TIME } from './parquet.js';

/** @import { Data, DataType } from 'apache-arrow' */
/** @import { SchemaElement } from 'hyparquet' */

/**
 * Kinds of cells in a column. A `time` is a text in the format of RFC 3339. Only cells of the kinds `text` and `number` may be null.
 *
 * @typedef {'time' | 'text' | 'number' | 'count'} Kind
 */
/** @typedef {{ name: string, kind: Kind }} TableColumn */
/** @typedef {Record<string, string | number | boolean | null>} Row cells by the names of columns */

/** Number of rows that are encoded without a pause. Other requests of the process are served in between. */
const ROWS_AT_ONCE = 2 ** 13;

/** @type {Record<Kind, DataType>} */
const ARROW_TYPES = {
  time: new TimestampMillisecond('UTC'),
  text: new Utf8(),
  number: new Float64(),
  count: new Int64(),
};

/** @type {Record<Kind, Omit<SchemaElement, 'name'>>} */
const PARQUET_TYPES = {
  time: TIME,
  text: OPTIONAL_TEXT,
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  count: { type: 'INT64', repetition_type: 'REQUIRED' },
};

/**
 * Encodes rows of any columns as a Parquet file, some rows at a time.
 *
 * @param {TableColumn[]} columns
 * @param {AsyncIterable<Iterable<Row>>} source
 * @returns {AsyncGenerator<Uint8Array, void>}
 */
export async function* encodeParquetTable(columns, source) {
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

/** @param {TableColumn} column @param {unknown[]} data */
function parquetColumn({ name, kind }, data) {
  // Texts are often names that repeat, so Snappy shortens them. A page without values is not compressed.
  const isCompressed = kind === 'text' && data.some((cell) => cell !== null);
  return {
    name,
    data,
    // Plain values are written, because the dictionaries of hyparquet-writer replace -0 by 0.
    encoding: /** @type {const} */ ('PLAIN'),
    codec: isCompressed ? /** @type {const} */ ('SNAPPY') : /** @type {const} */ ('UNCOMPRESSED'),
  };
}

/**
 * Encodes rows of any columns as an Arrow IPC stream, some rows at a time. Such rows are one batch.
 *
 * @param {TableColumn[]} columns
 * @param {AsyncIterable<Iterable<Row>>} source
 * @returns {AsyncGenerator<Uint8Array, void>}
 */
export async function* encodeArrowTable(columns, source) {
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

/** @param {TableColumn} column @param {unknown[]} cells one or more @returns {Data} */
function arrowColumn({ kind }, cells) {
  const [data] = vectorFromArray(cells, ARROW_TYPES[kind]).data;
  return /** @type {Data} */ (data);
}

/** @param {AsyncIterable<Iterable<Row>>} source @returns {AsyncGenerator<Row[], void>} chunks of rows, which are never empty */
async function* chunksOf(source) {
  /** @type {Row[]} */
  let rows = [];
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

/** @param {Row[]} rows @param {TableColumn} column @returns {unknown[]} cells of the column, with 64-bit integers as BigInt */
function cellsOf(rows, { name, kind }) {
  if (kind === 'time') return rows.map((row) => BigInt(Date.parse(String(row[name]))));
  if (kind === 'count') return rows.map((row) => BigInt(Number(row[name])));
  return rows.map((row) => row[name] ?? null);
}
