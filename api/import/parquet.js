import { parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { MillraceError } from '../../common/errors.js';
import { checkPages, GROUP_LIMITS, groupTooLarge } from './parquet-pages.js';
import { isEmpty, layoutOf, RowList, SAMPLES_AT_ONCE } from './rows.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { AsyncBuffer, ColumnMetaData, DecodedArray, FileMetaData, RowGroup } from 'hyparquet' */
/** @import { Layout, LayoutOptions, Rows } from './rows.js' */

/** Parsers that convert times directly to epoch ms. A Date object for each time would cost more than all other work. */
const PARSERS = {
  timestampFromMilliseconds: (/** @type {bigint} */ ms) => Number(ms),
  timestampFromMicroseconds: (/** @type {bigint} */ micros) => Math.floor(Number(micros) / 1000),
  timestampFromNanoseconds: (/** @type {bigint} */ nanos) => Number(nanos / 1_000_000n),
  dateFromDays: (/** @type {number} */ days) => days * 86_400_000,
};

/**
 * Reads a Parquet file, one row group after the other. A row has one sample, or a column for each sensor. A row group is
 * returned in slices, so that other requests run between two slices.
 *
 * @param {FileHandle} handle
 * @param {LayoutOptions & { device: string | undefined, skip: number }} options `skip`: number of rows at the start that need not be read
 * @returns {AsyncGenerator<Rows, void>}
 * @throws {MillraceError} `bad_file`
 */
export async function* readParquet(handle, options) {
  const { device, skip } = options;
  try {
    const file = await bufferOf(handle);
    const { metadata, names } = await readMetadata(file);
    const layout = layoutOf(names, options);
    const columns = columnsOf(layout);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const chunks = chunksOf(group, columns);
      const rowEnd = rowStart + rowsIn(group, { chunks, columns });
      if (rowEnd > skip) {
        await checkPages(file, metadata.schema, chunks);
        const cells = await readGroup(file, metadata, [...columns], { rowStart, rowEnd });
        yield* slicesOf(cells, layout, { device, rowStart, rowEnd });
      }
      rowStart = rowEnd;
    }
  } catch (error) {
    throw error instanceof MillraceError ? error : notParquet(error);
  }
}

/** @param {FileHandle} handle @returns {Promise<AsyncBuffer>} */
async function bufferOf(handle) {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      if (start < 0 || end > size) throw new Error('it names bytes beyond its end');
      const bytes = new Uint8Array(end - start);
      await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer;
    },
  };
}

/** @param {AsyncBuffer} file @returns {Promise<{ metadata: FileMetaData, names: string[] }>} `names`: names of the columns */
async function readMetadata(file) {
  const metadata = await parquetMetadataAsync(file);
  for (const element of metadata.schema) {
    const { logical_type: logical } = element;
    // The library recognizes decimals only by their older annotation. Without it, 2.5 would become 25.
    if (logical?.type === 'DECIMAL')
      Object.assign(element, { converted_type: 'DECIMAL', scale: logical.scale });
  }
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  return { metadata, names };
}

/** @param {unknown} error */
function notParquet(error) {
  const { message } = /** @type {Error} */ (error);
  const remedy = /compression codec/.test(message)
    ? ". Write the file again with Snappy, for example in pandas with to_parquet(…, compression='snappy')"
    : '';
  return new MillraceError('bad_file', `The file cannot be read as Parquet: ${message}${remedy}`, {
    cause: error,
  });
}

/** @param {Layout} layout @returns {Set<string>} */
const columnsOf = ({ roles, wide }) => new Set([...Object.values(roles), ...(wide ?? [])]);

/** @param {RowGroup} group @param {Set<string>} columns columns to read @returns {ColumnMetaData[]} where these columns are in the file */
const chunksOf = ({ columns: chunks }, columns) =>
  chunks.flatMap(({ meta_data: meta }) => (meta && columns.has(meta.path_in_schema[0] ?? '') ? [meta] : []));

/**
 * Checks the size of a row group before it is read.
 *
 * @param {RowGroup} group
 * @param {{ chunks: ColumnMetaData[], columns: Set<string> }} read
 * @returns {number} number of rows in the group
 * @throws {MillraceError} `bad_file`
 */
function rowsIn({ num_rows: claimed }, { chunks, columns }) {
  const rows = Number(claimed);
  if (!(rows >= 0)) throw new MillraceError('bad_file', 'A row group has no number of rows.');
  const bytes = chunks.reduce(
    (sum, { total_uncompressed_size: size, total_compressed_size: stored }) =>
      sum + Math.max(Number(size), Number(stored)),
    0,
  );
  const { rows: maxRows, values: maxValues, bytes: maxBytes } = GROUP_LIMITS;
  if (rows <= maxRows && rows * columns.size <= maxValues && bytes <= maxBytes) return rows;
  throw groupTooLarge();
}

/**
 * @param {AsyncBuffer} file
 * @param {FileMetaData} metadata
 * @param {string[]} columns
 * @param {{ rowStart: number, rowEnd: number }} group
 * @returns {Promise<Map<string, DecodedArray>>} decoded values by the name of the column
 */
async function readGroup(file, metadata, columns, group) {
  /** @type {Map<string, DecodedArray[]>} */
  const parts = new Map(columns.map((name) => [name, []]));
  await parquetRead({
    file,
    metadata,
    columns,
    ...group,
    parsers: PARSERS,
    onChunk: ({ columnName, columnData }) => parts.get(columnName)?.push(columnData),
  });
  const rows = group.rowEnd - group.rowStart;
  for (const [name, list] of parts) {
    const count = list.reduce((sum, { length }) => sum + length, 0);
    if (count !== rows) throw new Error(`column ${name} has ${count} values in a row group of ${rows} rows`);
  }
  const places = decimalPlacesOf(metadata);
  return new Map(Array.from(parts, ([name, list]) => [name, withDecimals(joined(list), places.get(name))]));
}

/** @param {DecodedArray[]} list @returns {DecodedArray} */
function joined(list) {
  const [only] = list;
  return list.length === 1 && only ? only : list.flatMap((part) => Array.from(part));
}

/** @param {FileMetaData} metadata @returns {Map<string, number>} number of decimal places, by the names of columns with decimals */
function decimalPlacesOf(metadata) {
  /** @type {Map<string, number>} */
  const places = new Map();
  for (const { element } of parquetSchema(metadata).children)
    if (element.converted_type === 'DECIMAL') places.set(element.name, element.scale ?? 0);
  return places;
}

/**
 * Limit of the whole numbers of which `withDecimals` computes exact decimals. For smaller numbers, the rounding errors of
 * the library and of `withDecimals` are together below one half, so that rounding restores the whole number.
 */
const MAX_EXACT = 2 ** 50;

/**
 * Corrects decimals. The library multiplies a whole number by a power of ten such as 0.1, which is not exact
 * as a double: 3 * 0.1 is 0.30000000000000004. A division gives the nearest double.
 *
 * @param {DecodedArray} column
 * @param {number} [places] number of decimal places of the values; 0: the values need no correction
 * @returns {DecodedArray}
 */
function withDecimals(column, places = 0) {
  if (places === 0) return column;
  const power = 10 ** places;
  return Array.from(/** @type {ArrayLike<unknown>} */ (column), (value) => {
    if (typeof value !== 'number') return value;
    const whole = Math.round(value * power);
    return Math.abs(whole) < MAX_EXACT ? whole / power : value;
  });
}

/**
 * @param {Map<string, DecodedArray>} columns of a row group
 * @param {Layout} layout
 * @param {{ device: string | undefined, rowStart: number, rowEnd: number }} group
 * @returns {Generator<Rows, void>} slices of the rows of the group
 */
function* slicesOf(columns, layout, { device, rowStart, rowEnd }) {
  const most = Math.ceil(SAMPLES_AT_ONCE / (layout.wide?.length ?? 1));
  for (let from = rowStart; from < rowEnd; from += most) {
    const slice = { device, rowStart: from, rowEnd: Math.min(rowEnd, from + most) };
    const [begin, end] = [slice.rowStart - rowStart, slice.rowEnd - rowStart];
    yield rowsOf(
      new Map(Array.from(columns, ([name, column]) => [name, column.slice(begin, end)])),
      layout,
      slice,
    );
  }
}

/**
 * @param {Map<string, DecodedArray>} columns
 * @param {Layout} layout
 * @param {{ device: string | undefined, rowStart: number, rowEnd: number }} slice
 * @returns {Rows}
 */
function rowsOf(columns, layout, { device, rowStart, rowEnd }) {
  const { roles, wide } = layout;
  const count = rowEnd - rowStart;
  if (wide !== null || layout.missing !== null || layout.isGuarded || roles.clock || roles.group) {
    const list = new RowList(device);
    list.end = rowEnd;
    for (let row = 0; row < count; row++)
      list.add(rowStart + row + 1, layout, (name) => columns.get(name)?.[row]);
    return list;
  }
  const column = (/** @type {keyof typeof roles} */ role) =>
    roles[role] === undefined ? null : (columns.get(roles[role]) ?? null);
  return {
    end: rowEnd,
    lines: Uint32Array.from({ length: count }, (_, row) => rowStart + row + 1),
    device: Array.from(column('device') ?? new Array(count), (name) => (isEmpty(name) ? device : name)),
    sensor: column('sensor') ?? [],
    ts: column('ts') ?? [],
    value: column('value') ?? [],
    type: column('type'),
    unit: column('unit'),
    site: column('site'),
    malformed: [],
    columns: { ts: String(roles.ts), value: String(roles.value) },
  };
}
