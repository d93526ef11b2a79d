import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { ColumnMetaData, Compressors, DataReader, PageHeader, SchemaElement } from 'hyparquet';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel, getSchemaPath } from 'hyparquet/src/schema.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import { MillraceError } from '../../../common/errors.ts';

/**
 * Levels, dictionary indexes and booleans are stored as runs: a length and a value, or a length and packed bits. The
 * library (hyparquet) writes each run in full into an array that grows with the run. So a few bytes may allocate
 * gigabytes. Before the library reads a page, this file compares the lengths of the runs with the number of values in
 * the page. This check costs little, because it skips the values of a run.
 *
 * A text may be stored as the length of a prefix of the previous text, and the rest. The prefixes of a small page may
 * add up to gigabytes, so they count as bytes of the row group.
 */

const GROUP = 8;

const DICTIONARY = new Set(['PLAIN_DICTIONARY', 'RLE_DICTIONARY']);

export interface ColumnStorage {
  meta: ColumnMetaData;
  /** bits of a level; 0: the column has no such level */
  widths: { repetition: number; definition: number };
  /** definition level of a value that is not null */
  present: number;
}

export function storageOf(schema: SchemaElement[], meta: ColumnMetaData): ColumnStorage {
  const path = getSchemaPath(schema, meta.path_in_schema);
  const present = getMaxDefinitionLevel(path);
  const widths = { repetition: bitsOf(getMaxRepetitionLevel(path)), definition: bitsOf(present) };
  return { meta, widths, present };
}

const bitsOf = (level: number): number => 32 - Math.clz32(level);

/** Each result is as long as the header of its page declares, and that length was checked before. A window of zstd may be 16 MiB. */
export const COMPRESSORS: Compressors = {
  GZIP: (page, size) => gunzipSync(page, { maxOutputLength: Math.max(1, size) }),
  BROTLI: (page, size) => brotliDecompressSync(page, { maxOutputLength: Math.max(1, size) }),
  ZSTD: (page, size) =>
    zstdDecompressSync(page, {
      maxOutputLength: Math.max(1, size),
      params: { [constants.ZSTD_d_windowLogMax]: 24 },
    }),
};

/** `page`: stored bytes, whose size was checked before. Returns the total bytes of the prefixes of texts. @throws `bad_file` */
export function checkRuns(page: Uint8Array, header: PageHeader, storage: ColumnStorage): number {
  if (header.type === 'DATA_PAGE') return checkPage(page, header, storage);
  if (header.type === 'DATA_PAGE_V2') return checkPageV2(page, header, storage);
  return 0;
}

/** Returns the total bytes of the prefixes of texts. */
function checkPage(
  stored: Uint8Array,
  { data_page_header: counts, uncompressed_page_size: size }: PageHeader,
  storage: ColumnStorage,
): number {
  if (!counts) return 0;
  const { meta, widths, present } = storage;
  const { num_values: values, encoding } = counts;
  const { repetition, definition } = widths;
  if (repetition === 0 && definition === 0 && !isChecked(encoding)) return 0;
  const reader = readerOf(decompressPage(stored, size, meta.codec, COMPRESSORS));
  if (repetition > 0) checkSized(reader, repetition, values);
  const levels = { ...reader };
  if (definition > 0) checkSized(reader, definition, values);
  if (encoding === 'DELTA_BYTE_ARRAY')
    return prefixesOf(reader, definition > 0 ? countPresent(levels, definition, values, present) : values);
  if (!isChecked(encoding)) return 0;
  if (meta.type === 'BOOLEAN') checkSized(reader, 1, values);
  else {
    const width = reader.view.getUint8(reader.offset++);
    // The library reads indexes with a width of 0 bits as zeros.
    if (width > 0) checkPart(reader, width, values, reader.view.byteLength);
  }
  return 0;
}

/** Such values may take more memory than the bytes of the page. */
const isChecked = (encoding: string): boolean =>
  encoding === 'RLE' || encoding === 'DELTA_BYTE_ARRAY' || DICTIONARY.has(encoding);

/** Counts levels that equal `present`: values that are not null. The reader must be at checked levels. `width`: bits of a level. */
function countPresent(reader: DataReader, width: number, values: number, present: number): number {
  const levels = new Array(values);
  readRleBitPackedHybrid(reader, width, levels);
  return levels.filter((level) => level === present).length;
}

/** Total bytes. A prefix is what a value repeats of the previous value. */
function prefixesOf(reader: DataReader, values: number): number {
  const prefixes = new Int32Array(values);
  if (values > 0) deltaBinaryUnpack(reader, values, prefixes);
  return prefixes.reduce((sum, bytes) => sum + Math.max(0, bytes), 0);
}

function checkPageV2(
  stored: Uint8Array,
  { data_page_header_v2: counts, uncompressed_page_size: size }: PageHeader,
  { meta, widths }: ColumnStorage,
): number {
  if (!counts) return 0;
  const { num_values: rows, encoding, is_compressed: isCompressed } = counts;
  const { repetition_levels_byte_length: repetition, definition_levels_byte_length: definition } = counts;
  const levels = readerOf(stored);
  if (widths.repetition > 0) checkPart(levels, widths.repetition, rows, repetition);
  levels.offset = repetition;
  if (widths.definition > 0) checkPart(levels, widths.definition, rows, repetition + definition);
  if (!isChecked(encoding)) return 0;
  // If the column has no levels, its values begin where the levels would begin. The library reads them in this way.
  const body = stored.subarray(repetition + (widths.definition > 0 ? definition : 0));
  const rest = size - repetition - definition;
  const reader = readerOf(
    isCompressed === false ? body : decompressPage(body, rest, meta.codec, COMPRESSORS),
  );
  const values = rows - counts.num_nulls;
  if (encoding === 'DELTA_BYTE_ARRAY') return prefixesOf(reader, values);
  if (encoding === 'RLE') checkSized(reader, 1, values);
  else checkPart(reader, reader.view.getUint8(reader.offset++), values, reader.view.byteLength);
  return 0;
}

const readerOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataReader => ({
  view: new DataView(buffer, byteOffset, byteLength),
  offset: 0,
});

/** For runs that follow their size in bytes. */
function checkSized(reader: DataReader, width: number, values: number) {
  const size = reader.view.getUint32(reader.offset, true);
  reader.offset += 4;
  checkPart(reader, width, values, reader.offset + size);
}

/** Moves the reader from the first run to `end`. `width`: bits of a value. `values`: greatest number of values in the runs. */
function checkPart(reader: DataReader, width: number, values: number, end: number) {
  // The size that the page declares is not the end of the loop, because the library reads runs until it has all values.
  for (let seen = 0; seen < values && reader.offset < reader.view.byteLength; ) {
    const header = readVarInt(reader);
    const isPacked = (header & 1) === 1;
    const count = isPacked ? (header >>> 1) * GROUP : header >>> 1;
    if (count >= values + GROUP)
      throw new MillraceError('bad_file', 'A page of the Parquet file has an impossible run length.');
    reader.offset += isPacked ? (count / GROUP) * width : (width + 7) >> 3;
    seen += count;
  }
  reader.offset = end;
}
