import { encodeArrow } from './arrow.js';
import { encodeParquet } from './parquet.js';
import { encodeArrowTable, encodeParquetTable } from './table.js';

/** @import { Samples } from './rows.js' */
/** @import { Row, TableColumn } from './table.js' */

/**
 * Export: samples of many sensors, and rows of any columns, as files for analysis programs. Callers choose sensors and a
 * format, and get bytes. Memory does not grow with the range, because one group of rows is encoded at a time. This
 * folder does not depend on HTTP.
 */
export { writeDataset } from './dataset.js';
export { encodeParquet } from './parquet.js';
export { exportedSensor, labelsOf, listSensors, readSensors } from './sensors.js';

/**
 * A file format that stores columns.
 *
 * @typedef {object} ColumnFormat
 * @property {string} name value of the parameter `format`
 * @property {string} extension extension of a file's name
 * @property {(source: AsyncIterable<Samples>) => AsyncGenerator<Uint8Array, void>} encode
 * @property {(columns: TableColumn[], source: AsyncIterable<Iterable<Row>>) => AsyncGenerator<Uint8Array, void>} encodeTable
 */

/** Formats by media type. @type {Record<'application/vnd.apache.parquet' | 'application/vnd.apache.arrow.stream', ColumnFormat>} */
export const COLUMN_FORMATS = {
  'application/vnd.apache.parquet': {
    name: 'parquet',
    extension: 'parquet',
    encode: encodeParquet,
    encodeTable: encodeParquetTable,
  },
  'application/vnd.apache.arrow.stream': {
    name: 'arrow',
    extension: 'arrows',
    encode: encodeArrow,
    encodeTable: encodeArrowTable,
  },
};

/** @typedef {keyof typeof COLUMN_FORMATS} ColumnType */

/**
 * Yields samples unchanged, and calls a function with the number of samples in each item.
 *
 * @param {AsyncIterable<Samples>} source
 * @param {(samples: number) => void} onSamples
 * @returns {AsyncGenerator<Samples, void>}
 */
export async function* countSamples(source, onSamples) {
  for await (const samples of source) {
    yield samples;
    onSamples(samples.to - samples.from);
  }
}
