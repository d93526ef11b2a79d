import { fstatSync, readSync } from 'node:fs';
import {
  type FileMetaData,
  parquetMetadataAsync,
  parquetSchema,
  type RowGroup,
  type SchemaTree,
} from 'hyparquet';
import { getTreePath, isFlatColumn } from 'hyparquet/src/schema.js';
import { MillraceError } from '../../../common/errors.ts';
import { ColumnReader, type FileBytes, WINDOW_TEXT_BYTES, WINDOW_VALUES } from './parquet-pages.ts';
import {
  isEmpty,
  type Layout,
  type LayoutOptions,
  layoutOf,
  RowList,
  type Rows,
  SAMPLES_AT_ONCE,
} from './rows.ts';

/**
 * Decodes windows of rows, so that the memory does not depend on the size of row groups. `skip`: rows at the start
 * that need not be read.
 * @throws `bad_file`
 */
export async function* decodeParquet(
  fd: number,
  options: LayoutOptions & { skip: number },
): AsyncGenerator<Rows, void> {
  const { device, skip } = options;
  try {
    const file = bytesOf(fd);
    const { metadata, tree } = await readMetadata(file);
    const names = tree.children.map(({ element }) => element.name);
    const layout = layoutOf(names, options);
    const columns = [...new Set([...Object.values(layout.roles), ...(layout.wide ?? [])])];
    const places = decimalPlacesOf(tree);
    const atOnce = Math.ceil(SAMPLES_AT_ONCE / (layout.wide?.length ?? 1));
    let groupStart = 0;
    for (const group of metadata.row_groups) {
      const rows = Number(group.num_rows);
      if (!(rows >= 0)) throw new MillraceError('bad_file', 'A row group has no number of rows.');
      const readers = readersOf(file, { metadata, tree, group, columns });
      const step = atOnce * Math.max(1, Math.floor(windowRowsOf(group, columns) / atOnce));
      for (let from = 0; from < rows; from += step) {
        const to = Math.min(rows, from + step);
        if (groupStart + to <= skip) continue;
        const cells = new Map(
          Array.from(readers, ([name, reader]) => [
            name,
            withDecimals(reader.read(from, to), places.get(name)),
          ]),
        );
        yield* slicesOf(cells, layout, {
          device,
          atOnce,
          rowStart: groupStart + from,
          rowEnd: groupStart + to,
        });
        // Otherwise this window stays in memory while the next one is read.
        cells.clear();
      }
      groupStart += rows;
    }
  } catch (error) {
    throw error instanceof MillraceError ? error : notParquet(error);
  }
}

function notParquet(error: unknown) {
  const { message } = error as Error;
  const remedy = /compression codec/.test(message)
    ? ". Write the file again with Snappy, for example in pandas with to_parquet(…, compression='snappy')"
    : '';
  return new MillraceError('bad_file', `The file cannot be read as Parquet: ${message}${remedy}`, {
    cause: error,
  });
}

function bytesOf(fd: number): FileBytes {
  const { size } = fstatSync(fd);
  return {
    size,
    read(start, end) {
      if (!(start >= 0 && start <= end && end <= size)) throw new Error('it names bytes beyond its end');
      const bytes = new Uint8Array(end - start);
      for (let at = 0; at < bytes.length; ) {
        const count = readSync(fd, bytes, at, bytes.length - at, start + at);
        if (count === 0) throw new Error('it was cut off');
        at += count;
      }
      return bytes;
    },
  };
}

async function readMetadata(file: FileBytes): Promise<{ metadata: FileMetaData; tree: SchemaTree }> {
  const slice = (start: number, end = file.size) => file.read(start, end).buffer;
  const metadata = await parquetMetadataAsync({ byteLength: file.size, slice });
  for (const element of metadata.schema) {
    const { logical_type: logical } = element;
    // The library recognizes decimals only by their older annotation. Without it, 2.5 would become 25.
    if (logical?.type === 'DECIMAL')
      Object.assign(element, { converted_type: 'DECIMAL', scale: logical.scale });
  }
  return { metadata, tree: parquetSchema(metadata) };
}

/** Replaces a list or a struct. It is neither a name nor a number, so its sample is refused. */
const NESTED = Object.freeze({});

const NESTED_READER: Pick<ColumnReader, 'read'> = { read: (from, to) => new Array(to - from).fill(NESTED) };

function readersOf(
  file: FileBytes,
  {
    metadata: { schema },
    tree,
    group,
    columns,
  }: { metadata: FileMetaData; tree: SchemaTree; group: RowGroup; columns: string[] },
): Map<string, Pick<ColumnReader, 'read'>> {
  const size = { rows: Number(group.num_rows), columns: columns.length };
  const readers: Map<string, Pick<ColumnReader, 'read'>> = new Map();
  const wanted = new Set(columns);
  for (const { meta_data: meta } of group.columns) {
    const name = meta?.path_in_schema[0] ?? '';
    if (!meta || !wanted.has(name)) continue;
    const isFlat = isFlatColumn(getTreePath(tree, meta.path_in_schema));
    readers.set(name, isFlat ? new ColumnReader(file, { schema, tree, meta }, size) : NESTED_READER);
  }
  const missing = columns.find((name) => !readers.has(name));
  if (missing !== undefined) throw new Error(`a row group lacks the column ${missing}`);
  return readers;
}

/** A window has at most so many values, and about so many bytes of texts. Texts of a dictionary are shared. */
function windowRowsOf({ columns: parts, num_rows: rows }: RowGroup, columns: string[]): number {
  const wanted = new Set(columns);
  let bytes = 0;
  for (const { meta_data: meta } of parts)
    if (meta?.type === 'BYTE_ARRAY' && wanted.has(meta.path_in_schema[0] ?? ''))
      bytes += Number(meta.total_uncompressed_size);
  const byBytes = bytes > WINDOW_TEXT_BYTES ? (WINDOW_TEXT_BYTES / bytes) * Number(rows) : Infinity;
  return Math.min(WINDOW_VALUES / columns.length, byBytes);
}

/** By the names of columns with decimals. */
function decimalPlacesOf(tree: SchemaTree): Map<string, number> {
  const places: Map<string, number> = new Map();
  for (const { element } of tree.children)
    if (element.converted_type === 'DECIMAL') places.set(element.name, element.scale ?? 0);
  return places;
}

/**
 * Limit of whole numbers for exact decimals. Below it, the rounding errors of the library and of `withDecimals` are together below one
 * half, so that rounding restores the whole number.
 */
const MAX_EXACT = 2 ** 50;

/**
 * The library multiplies a whole number by a power of ten such as 0.1, which is not exact as a double: 3 * 0.1 is 0.30000000000000004. A
 * division gives the nearest double.
 */
function withDecimals(column: unknown[], places: number = 0): unknown[] {
  if (places === 0) return column;
  const power = 10 ** places;
  return column.map((value) => {
    if (typeof value !== 'number') return value;
    const whole = Math.round(value * power);
    return Math.abs(whole) < MAX_EXACT ? whole / power : value;
  });
}

function* slicesOf(
  columns: Map<string, unknown[]>,
  layout: Layout,
  {
    device,
    atOnce,
    rowStart,
    rowEnd,
  }: { device: string | undefined; atOnce: number; rowStart: number; rowEnd: number },
): Generator<Rows, void> {
  for (let from = rowStart; from < rowEnd; from += atOnce) {
    const slice = { device, rowStart: from, rowEnd: Math.min(rowEnd, from + atOnce) };
    const [begin, end] = [slice.rowStart - rowStart, slice.rowEnd - rowStart];
    yield rowsOf(
      new Map(Array.from(columns, ([name, column]) => [name, column.slice(begin, end)])),
      layout,
      slice,
    );
  }
}

function rowsOf(
  columns: Map<string, unknown[]>,
  layout: Layout,
  { device, rowStart, rowEnd }: { device: string | undefined; rowStart: number; rowEnd: number },
): Rows {
  const { roles, wide } = layout;
  const count = rowEnd - rowStart;
  if (wide !== null || layout.missing !== null || layout.isGuarded || roles.clock || roles.group) {
    const list = new RowList(device, false);
    list.end = rowEnd;
    for (let row = 0; row < count; row++)
      list.add(rowStart + row + 1, layout, (name) => columns.get(name)?.[row]);
    return list;
  }
  const column = (role: keyof typeof roles) =>
    roles[role] === undefined ? null : (columns.get(roles[role]) ?? null);
  return {
    isText: false,
    end: rowEnd,
    lines: new Float64Array(count).map((_, row) => rowStart + row + 1),
    device: column('device')?.map((name) => (isEmpty(name) ? device : name)) ?? new Array(count).fill(device),
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
