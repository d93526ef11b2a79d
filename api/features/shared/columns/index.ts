import { encodeArrow } from './arrow.ts';
import { encodeParquet } from './parquet.ts';
import type { Samples } from './rows.ts';
import { encodeArrowTable, encodeParquetTable, type Row, type TableColumn } from './table.ts';

/**
 * Encodes samples of many sensors, and rows of any columns, as Parquet or Arrow. Memory does not grow with the range, because one group of
 * rows is encoded at a time. This folder does not depend on HTTP.
 */
export { encodeParquet } from './parquet.ts';
export { DATA_SET_LABELS } from './rows.ts';
export { exportedSensor, labelsOf, listSensors, readSensors } from './sensors.ts';

interface ColumnFormat {
  name: string;
  extension: string;
  encode: (source: AsyncIterable<Samples>) => AsyncGenerator<Uint8Array, void>;
  encodeTable: (
    columns: TableColumn[],
    source: AsyncIterable<Iterable<Row>>,
  ) => AsyncGenerator<Uint8Array, void>;
}

export const COLUMN_FORMATS: Record<
  'application/vnd.apache.parquet' | 'application/vnd.apache.arrow.stream',
  ColumnFormat
> = {
  'application/vnd.apache.parquet': {
    name: 'parquet',
    extension: 'parquet',
    encode: (source) => encodeParquet(source),
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

/** Yields the samples unchanged, and counts them on the way. */
export async function* countSamples(
  source: AsyncIterable<Samples>,
  onSamples: (samples: number) => void,
): AsyncGenerator<Samples, void> {
  for await (const samples of source) {
    yield samples;
    onSamples(samples.to - samples.from);
  }
}
