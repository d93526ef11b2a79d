import { encodeArrow } from './arrow.ts';
import { encodeParquet } from './parquet.ts';
import type { Samples } from './rows.ts';
import { encodeArrowTable, encodeParquetTable, type Row, type TableColumn } from './table.ts';

/**
 * Export: samples of many sensors, and rows of any columns, as files for analysis programs. Callers choose sensors and a
 * format, and get bytes. Memory does not grow with the range, because one group of rows is encoded at a time. This
 * folder does not depend on HTTP.
 */
export { writeDataset } from './dataset.ts';
export { encodeParquet } from './parquet.ts';
export { exportedSensor, labelsOf, listSensors, readSensors } from './sensors.ts';

/** A file format that stores columns. */
interface ColumnFormat {
  /** value of the parameter `format` */
  name: string;
  /** extension of a file's name */
  extension: string;
  encode: (source: AsyncIterable<Samples>) => AsyncGenerator<Uint8Array, void>;
  encodeTable: (
    columns: TableColumn[],
    source: AsyncIterable<Iterable<Row>>,
  ) => AsyncGenerator<Uint8Array, void>;
}

/** Formats by media type. */
export const COLUMN_FORMATS: Record<
  'application/vnd.apache.parquet' | 'application/vnd.apache.arrow.stream',
  ColumnFormat
> = {
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

export type ColumnType = keyof typeof COLUMN_FORMATS;

/** Yields samples unchanged, and calls a function with the number of samples in each item. */
export async function* countSamples(
  source: AsyncIterable<Samples>,
  onSamples: (samples: number) => void,
): AsyncGenerator<Samples, void> {
  for await (const samples of source) {
    yield samples;
    onSamples(samples.to - samples.from);
  }
}
