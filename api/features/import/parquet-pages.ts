import type {
  ColumnMetaData,
  DecodedArray,
  Encoding,
  PageHeader,
  SchemaElement,
  SchemaTree,
} from 'hyparquet';
// The main module of hyparquet keeps a whole column of a row group in memory, also with `onPage`. So we use the parts that read a page.
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert, convertWithDictionary, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage, readDataPageV2 } from 'hyparquet/src/datapage.js';
import { getTreePath } from 'hyparquet/src/schema.js';
import { MillraceError } from '../../../common/errors.ts';
import { COMPRESSORS, type ColumnStorage, checkRuns, storageOf } from './parquet-runs.ts';

/**
 * The library (hyparquet) decodes no smaller part of a file than a page. Programs such as pyarrow, pandas, polars and DuckDB write pages of
 * at most about 1 MiB or one row group of a million values. `texts`: texts without a dictionary, for each of which the library makes a view
 * of about 100 bytes.
 */
const PAGE_LIMITS = { values: 2 ** 20, texts: 2 ** 18, bytes: 2 ** 24 };

export const WINDOW_VALUES = 2 ** 20;
export const WINDOW_TEXT_BYTES = 2 ** 24;

/**
 * A page that reaches into further windows is decoded again. A page of 131,072 values in a table of 256 columns is decoded 32 times. This
 * costs as much as to store its samples.
 */
const MAX_REPETITIONS = 32;

/** First read of a page header, and the limit of its length. It may have long texts as statistics. */
const HEADER_BYTES = { first: 4096, most: 2 ** 20 };

const DICTIONARY = /DICTIONARY/;

/** A Date object for each time would cost more than all other work. */
const PARSERS = {
  ...DEFAULT_PARSERS,
  timestampFromMilliseconds: (ms: bigint) => Number(ms),
  timestampFromMicroseconds: (micros: bigint) => Math.floor(Number(micros) / 1000),
  timestampFromNanoseconds: (nanos: bigint) => Number(nanos / 1_000_000n),
  dateFromDays: (days: number) => days * 86_400_000,
};

type ColumnDecoder = Parameters<typeof readPage>[2];
type DataPage = ReturnType<typeof readDataPageV2>;

export type FileBytes = { size: number; read: (start: number, end: number) => Uint8Array<ArrayBuffer> };

/** Reads a column of one row group page by page, so that only one page is in memory. */
export class ColumnReader {
  #file;
  #storage: ColumnStorage;
  #decoder: ColumnDecoder;
  #rows;
  #end;
  #maxValues;
  /** The first page that later windows need, by its offset in the file. */
  #next;
  #dictionary: number | null = null;

  /** `columns`: number of columns that are read together. */
  constructor(
    file: FileBytes,
    { schema, tree, meta }: { schema: SchemaElement[]; tree: SchemaTree; meta: ColumnMetaData },
    { rows, columns }: { rows: number; columns: number },
  ) {
    const { dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: size } = meta;
    const begin = Number(dictionary || data);
    const schemaPath = getTreePath(tree, meta.path_in_schema);
    const element = (schemaPath.at(-1) as SchemaTree).element;
    this.#file = file;
    this.#rows = rows;
    this.#storage = storageOf(schema, meta);
    this.#decoder = {
      ...meta,
      pathInSchema: meta.path_in_schema,
      element,
      schemaPath,
      parsers: PARSERS,
      compressors: COMPRESSORS,
    };
    this.#end = begin + Number(size);
    this.#next = { offset: begin, row: 0 };
    this.#maxValues = Math.min(
      PAGE_LIMITS.values,
      Math.floor((WINDOW_VALUES * MAX_REPETITIONS) / Math.max(1, columns)),
    );
  }

  /** Rows [from, to) of the row group. `from` must not be before the end of the last read. @throws `bad_file` */
  read(from: number, to: number): unknown[] {
    const values = new Array(to - from);
    let dictionary: DecodedArray | undefined;
    while (this.#next.row < to) {
      const { offset, row } = this.#next;
      const page = this.#pageAt(offset);
      if (page.header.type === 'DICTIONARY_PAGE') {
        this.#dictionary = offset;
        dictionary = undefined;
      }
      const pageEnd = row + page.rows;
      if (pageEnd > this.#rows) throw new Error(`it has a column of more than ${this.#rows} rows`);
      if (pageEnd > from && page.rows > 0) {
        if (page.usesDictionary) dictionary ??= this.#readDictionary();
        this.#copyPage(page, dictionary, { values, from: from - row, to: to - row });
      }
      if (pageEnd > to) break;
      this.#next = { offset: page.end, row: pageEnd };
    }
    return values;
  }

  #readDictionary(): DecodedArray | undefined {
    if (this.#dictionary === null) return undefined;
    const page = this.#pageAt(this.#dictionary);
    const reader = { view: new DataView(this.#bytesOf(page).buffer), offset: 0 };
    const { data = [] } = readPage(reader, page.header, this.#decoder, undefined, undefined, 0);
    return convert(data, this.#decoder);
  }

  #copyPage(
    page: Page,
    dictionary: DecodedArray | undefined,
    { values, from, to }: { values: unknown[]; from: number; to: number },
  ) {
    const { definitionLevels: levels = [], dataPage } = this.#readData(page);
    const data = convertWithDictionary(dataPage, dictionary, page.encoding, this.#decoder);
    if ((levels.length || data.length) !== page.rows)
      throw new Error('it has a page with a wrong number of values');
    const end = Math.min(to, page.rows);
    if (levels.length === 0)
      for (let row = Math.max(from, 0); row < end; row++) values[row - from] = data[row];
    else
      for (let row = 0, index = 0; row < end; row++) {
        const value = levels[row] === this.#storage.present ? data[index++] : null;
        if (row >= from) values[row - from] = value;
      }
  }

  #readData(page: Page): Pick<DataPage, 'definitionLevels' | 'dataPage'> {
    const { header } = page;
    const bytes = this.#bytesOf(page);
    if (header.data_page_header_v2) return readDataPageV2(bytes, header, this.#decoder);
    const { data_page_header: counts, uncompressed_page_size: size } = header;
    if (!counts) throw new Error(`it has a page of the type ${header.type}`);
    return readDataPage(decompressPage(bytes, size, this.#decoder.codec, COMPRESSORS), counts, this.#decoder);
  }

  #bytesOf({ header, begin, end }: Page): Uint8Array<ArrayBuffer> {
    const bytes = this.#file.read(begin, end);
    const prefixes = checkRuns(bytes, header, this.#storage);
    if (header.uncompressed_page_size + prefixes > PAGE_LIMITS.bytes) throw pageTooLarge(this.#maxValues);
    return bytes;
  }

  #pageAt(offset: number): Page {
    const { header, length } = this.#headerAt(offset);
    const begin = offset + length;
    const { values, encoding } = claimsOf(header, this.#end - begin);
    const usesDictionary = DICTIONARY.test(encoding);
    const isDictionary = header.type === 'DICTIONARY_PAGE';
    const isText = /BYTE_ARRAY|INT96/.test(this.#decoder.type);
    const limit = isText && (isDictionary || !usesDictionary) ? PAGE_LIMITS.texts : this.#maxValues;
    const { compressed_page_size: stored, uncompressed_page_size: size } = header;
    if (values > limit || Math.max(stored, size) > PAGE_LIMITS.bytes) throw pageTooLarge(limit);
    return { header, begin, end: begin + stored, rows: isDictionary ? 0 : values, encoding, usesDictionary };
  }

  #headerAt(offset: number): { header: PageHeader; length: number } {
    const rest = this.#end - offset;
    if (rest <= 0) throw new Error(`it has a column of fewer than ${this.#rows} rows`);
    for (let size = HEADER_BYTES.first; ; size *= 16) {
      const bytes = this.#file.read(offset, offset + Math.min(size, rest));
      const reader = { view: new DataView(bytes.buffer), offset: 0 };
      try {
        return { header: parquetHeader(reader), length: reader.offset };
      } catch (error) {
        if (!(error instanceof RangeError) || size >= Math.min(rest, HEADER_BYTES.most)) throw error;
      }
    }
  }
}

type Page = {
  header: PageHeader;
  begin: number;
  end: number;
  rows: number;
  encoding: Encoding;
  usesDictionary: boolean;
};

const pageTooLarge = (values: number): MillraceError =>
  new MillraceError(
    'bad_file',
    `A page of this column may have ${values} values and ${PAGE_LIMITS.bytes} bytes. Write smaller row groups or smaller data pages.`,
  );

/**
 * The library trusts the counts in a page header, and allocates arrays of that length. So they are checked before. `rest`: bytes after the
 * header.
 */
function claimsOf(header: PageHeader, rest: number): { values: number; encoding: Encoding } {
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
  return { values, encoding: (v1 ?? v2 ?? dictionary)?.encoding ?? 'PLAIN' };
}

const isCount = (count: unknown) => Number.isInteger(count) && Number(count) >= 0;
