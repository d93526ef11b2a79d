import { parquetHeader } from 'hyparquet/src/column.js';
import { MillraceError } from '../../common/errors.js';
import { checkRuns, storageOf } from './parquet-runs.js';

/** @import { AsyncBuffer, ColumnMetaData, PageHeader, SchemaElement } from 'hyparquet' */

/**
 * The library (hyparquet) trusts the counts in a page header, and allocates arrays of that length. So a small harmful file
 * could use up the memory. This file reads all page headers of a row group first. It compares them with the number of
 * rows, with the size of the data, and with the limits.
 */

/** Limits of a row group, which is in memory as a whole. A larger group is refused. Each value takes 8 bytes or more. */
export const GROUP_LIMITS = { rows: 10_000_000, values: 2 ** 26, bytes: 2 ** 29 };

/** The time to read a page header, expressed as the number of values that are read in the same time. */
const VALUES_OF_HEADER = 64;

/** @returns {MillraceError} `bad_file` */
export const groupTooLarge = () =>
  new MillraceError(
    'bad_file',
    `A row group may have ${GROUP_LIMITS.rows} rows, ${GROUP_LIMITS.values} values and ${GROUP_LIMITS.bytes} bytes. Write smaller row groups.`,
  );

/**
 * Checks all page headers of a row group.
 *
 * @param {AsyncBuffer} file
 * @param {SchemaElement[]} schema
 * @param {ColumnMetaData[]} chunks column chunks of the row group
 * @returns {Promise<void>}
 * @throws {MillraceError} `bad_file`
 */
export async function checkPages(file, schema, chunks) {
  const claims = { values: 0, bytes: 0 };
  for (const chunk of chunks) {
    const { dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: size } = chunk;
    const begin = Number(dictionary || data);
    const view = new DataView(await file.slice(begin, begin + Number(size)));
    const reader = { view, offset: 0 };
    const storage = storageOf(schema, chunk);
    // This loop stops one byte before the end, because the library does the same.
    while (reader.offset < view.byteLength - 1) {
      const header = parquetHeader(reader);
      const claimed = claimsOf(header, view.byteLength - reader.offset);
      claims.values += claimed.values + VALUES_OF_HEADER;
      claims.bytes += claimed.bytes;
      checkLimits(claims);
      const page = new Uint8Array(view.buffer, reader.offset, header.compressed_page_size);
      claims.bytes += checkRuns(page, header, storage);
      checkLimits(claims);
      reader.offset += header.compressed_page_size;
    }
  }
}

/** @param {{ values: number, bytes: number }} claims @throws {MillraceError} `bad_file` */
function checkLimits({ values, bytes }) {
  if (values > GROUP_LIMITS.values || bytes > GROUP_LIMITS.bytes) throw groupTooLarge();
}

/**
 * @param {PageHeader} header
 * @param {number} rest number of bytes after the header
 * @returns {{ values: number, bytes: number }} the allocations that the header causes in the library
 */
function claimsOf(header, rest) {
  const { compressed_page_size: compressed, uncompressed_page_size: bytes } = header;
  const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header;
  const values = (v1 ?? v2 ?? dictionary)?.num_values ?? 0;
  const levels = v2 ? [v2.definition_levels_byte_length, v2.repetition_levels_byte_length] : [];
  const nulls = v2?.num_nulls ?? 0;
  const isSane =
    [compressed, bytes, values, nulls, ...levels].every(isCount) &&
    compressed <= rest &&
    nulls <= values &&
    levels.reduce((sum, size) => sum + size, 0) <= compressed &&
    // Each value of a dictionary takes at least one bit.
    (!dictionary || values <= 8 * bytes);
  if (!isSane) throw new MillraceError('bad_file', 'A page of the Parquet file has impossible sizes.');
  return { values, bytes };
}

/** @param {unknown} count */
const isCount = (count) => Number.isInteger(count) && Number(count) >= 0;
