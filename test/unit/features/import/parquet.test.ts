import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import type { FileMetaData, PageHeader, SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { readParquet } from '../../../../api/features/import/parquet.ts';
import { readValue } from '../../../../api/features/import/values.ts';
import { useDirectory } from '../../../support/directory.ts';

const directory = useDirectory('parquet');

/** A column of whole numbers. */
type Column = { name: string; data: number[] };

/** @returns a column of times, then one for each sensor */
const columnsOf = (rows: number, sensors: string[] = ['a']): Column[] =>
  ['ts', ...sensors].map((name) => ({ name, data: Array.from({ length: rows }, (_, row) => row) }));

async function write(
  columnData: Column[],
  change: (
    file: Pick<FileMetaData, 'row_groups' | 'num_rows' | 'schema'>,
    writer: ByteWriter,
  ) => void = () => {},
): Promise<string> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columnData.length },
      ...columnData.map(({ name }) => ({
        name,
        type: 'DOUBLE' as const,
        repetition_type: 'REQUIRED' as const,
      })),
    ],
  });
  await file.write({ columnData, rowGroupSize: columnData[0]?.data.length ?? 0 });
  change(file, writer);
  await file.finish();
  const path = join(directory, `${columnData.length}.parquet`);
  writeFileSync(path, writer.getBytes());
  return path;
}

async function partsOf(path: string) {
  const handle = await open(path);
  try {
    const parts = [];
    for await (const part of readParquet(handle, { device: 'd', skip: 0 })) parts.push(part);
    return parts;
  } finally {
    await handle.close();
  }
}

const samplesOf = async (path: string) =>
  (await partsOf(path)).flatMap(({ lines, sensor, ts, value }) =>
    Array.from(lines, (line, index) => [line, sensor[index], ts[index], value[index]]),
  );

test.each([1n, 3n, 9_000_000n, 1_000_000_000n, -2n])(
  'Parquet import: the file has 2 rows, but its footer claims %p rows: bad_file',
  async (claimed) => {
    const path = await write(columnsOf(2), (file) => {
      for (const group of file.row_groups) group.num_rows = claimed;
    });
    await expect(samplesOf(path)).rejects.toMatchObject({ code: 'bad_file' });
  },
);

test('Parquet import: the footer claims a terabyte as total_compressed_size: bad_file', async () => {
  const path = await write(columnsOf(2), ({ row_groups: groups }) => {
    for (const { columns } of groups)
      for (const { meta_data: meta } of columns)
        Object.assign(meta ?? {}, { total_compressed_size: 2n ** 40n });
  });
  await expect(samplesOf(path)).rejects.toMatchObject({ code: 'bad_file' });
});

test('Parquet import: 50,000 rows in one row group: the file is read in slices of 20,000 rows', async () => {
  const columns = [
    ...columnsOf(50_000, ['value']),
    { name: 'sensor', data: Array.from({ length: 50_000 }, (_, row) => row % 3) },
  ];
  const parts = await partsOf(await write(columns));
  expect(parts.map(({ end, lines, ts }) => [end, lines[0], ts.length])).toEqual([
    [20_000, 1, 20_000],
    [40_000, 20_001, 20_000],
    [50_000, 40_001, 10_000],
  ]);
  expect(parts.flatMap(({ value }) => Array.from(value))).toEqual(columns[1]?.data);
});

const HEADERS: Array<[claim: string, header: Partial<PageHeader>]> = [
  [
    'a billion values in a dictionary of no bytes',
    { type: 'DICTIONARY_PAGE', dictionary_page_header: { num_values: 1_000_000_000, encoding: 'PLAIN' } },
  ],
  ['a billion values', dataPage({ num_values: 1_000_000_000 })],
  ['a negative number of values', dataPage({ num_values: -1 })],
  ['more bytes than the file has', { ...dataPage({}), compressed_page_size: 1_000_000 }],
  ['a billion bytes after decompression', { ...dataPage({}), uncompressed_page_size: 1_000_000_000 }],
  ['a negative number of bytes', { ...dataPage({}), compressed_page_size: -20, uncompressed_page_size: 16 }],
  [
    'levels that are longer than the page',
    {
      type: 'DATA_PAGE_V2',
      data_page_header_v2: {
        num_values: 2,
        num_nulls: 0,
        num_rows: 2,
        encoding: 'PLAIN',
        definition_levels_byte_length: 1_000_000,
        repetition_levels_byte_length: 0,
        is_compressed: false,
      },
    },
  ],
];

function dataPage({ num_values = 2 }: { num_values?: number }): Partial<PageHeader> {
  const levels = {
    definition_level_encoding: 'RLE',
    repetition_level_encoding: 'RLE',
  } as const;
  return { type: 'DATA_PAGE', data_page_header: { num_values, encoding: 'BYTE_STREAM_SPLIT', ...levels } };
}

test.each(HEADERS)(
  'Parquet import: a page header claims %s: bad_file, before the page is read',
  async (_, header) => {
    const path = await write(columnsOf(2), ({ row_groups: groups }, writer) => {
      const begin = writer.offset;
      writePageHeader(writer, { compressed_page_size: 16, uncompressed_page_size: 16, ...header } as never);
      writer.appendBytes(new Uint8Array(16));
      const meta = groups[0]?.columns[1]?.meta_data;
      Object.assign(meta ?? {}, {
        data_page_offset: BigInt(begin),
        total_compressed_size: BigInt(writer.offset - begin),
      });
    });
    await expect(samplesOf(path)).rejects.toMatchObject({
      code: 'bad_file',
      message: expect.stringMatching(/impossible sizes|Write smaller row groups/),
    });
  },
);

/** A run of 16 million ones, in 5 bytes. */
const LONG_RUN = [...varIntOf(2 ** 24 * 2), 1];

function varIntOf(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varIntOf(Math.floor(value / 128))];
}

/** @param levels bytes @returns header of an uncompressed page with two indexes */
const indexPage = (levels: number): Partial<PageHeader> => ({
  type: 'DATA_PAGE_V2',
  data_page_header_v2: {
    num_values: 2,
    num_nulls: 0,
    num_rows: 2,
    encoding: 'RLE_DICTIONARY',
    definition_levels_byte_length: levels,
    repetition_levels_byte_length: 0,
    is_compressed: false,
  },
});

const COMPRESSED_INDEX_PAGE: Partial<PageHeader> = {
  type: 'DATA_PAGE',
  data_page_header: {
    num_values: 2,
    encoding: 'RLE_DICTIONARY',
    definition_level_encoding: 'RLE',
    repetition_level_encoding: 'RLE',
  },
};

function encodedAs(encoding: string, header: Partial<PageHeader>): Partial<PageHeader> {
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  return {
    ...header,
    ...(v1 && { data_page_header: { ...v1, encoding } }),
    ...(v2 && { data_page_header_v2: { ...v2, encoding } }),
  } as never;
}

/** Writes a file of two rows. Its second column consists of the given page. */
const writePage = (header: Partial<PageHeader>, page: number[], isOptional: boolean) =>
  write(columnsOf(2), ({ row_groups: groups, schema }, writer) => {
    const body = header.type === 'DATA_PAGE' ? snappyCompress(new Uint8Array(page)) : new Uint8Array(page);
    const begin = writer.offset;
    const sizes = { compressed_page_size: body.length, uncompressed_page_size: page.length };
    writePageHeader(writer, { ...sizes, ...header } as never);
    writer.appendBytes(body);
    if (isOptional) Object.assign(schema[2] ?? {}, { repetition_type: 'OPTIONAL' });
    Object.assign(groups[0]?.columns[1]?.meta_data ?? {}, {
      codec: 'SNAPPY',
      data_page_offset: BigInt(begin),
      total_compressed_size: BigInt(writer.offset - begin),
    });
  });

const LONG_RUNS: Array<[where: string, header: Partial<PageHeader>, page: number[], isOptional: boolean]> = [
  ['the indexes', indexPage(0), [1, ...LONG_RUN], false],
  ['compressed indexes', COMPRESSED_INDEX_PAGE, [1, ...LONG_RUN], false],
  ['packed indexes without bits', indexPage(0), [0, ...varIntOf(2 ** 22 + 1)], false],
  ['the levels', indexPage(LONG_RUN.length), [...LONG_RUN, 1, 4, 0], true],
  ['compressed levels', COMPRESSED_INDEX_PAGE, [LONG_RUN.length, 0, 0, 0, ...LONG_RUN, 1, 4, 0], true],
];

test.each(LONG_RUNS)(
  'Parquet import: a run length of millions in %s of a page of 2 values: bad_file, before the run is read',
  async (_, header, page, isOptional) => {
    await expect(samplesOf(await writePage(header, page, isOptional))).rejects.toMatchObject({
      code: 'bad_file',
      message: 'A page of the Parquet file has an impossible run length.',
    });
  },
);

/** DELTA_BYTE_ARRAY: a block of prefix lengths (one is 1 GiB), a block of suffix lengths, and the suffixes. */
const LONG_PREFIX = [...Buffer.from('8001040200808080800800000000800104020200000000006162', 'hex')];

const LONG_PREFIXES: Array<
  [where: string, header: Partial<PageHeader>, page: number[], isOptional: boolean]
> = [
  ['a page', encodedAs('DELTA_BYTE_ARRAY', COMPRESSED_INDEX_PAGE), LONG_PREFIX, false],
  [
    'a page with levels',
    encodedAs('DELTA_BYTE_ARRAY', COMPRESSED_INDEX_PAGE),
    [2, 0, 0, 0, 4, 1, ...LONG_PREFIX],
    true,
  ],
  ['a page of version 2', encodedAs('DELTA_BYTE_ARRAY', indexPage(0)), LONG_PREFIX, false],
];

test.each(LONG_PREFIXES)(
  'Parquet import: a text claims a prefix of a gigabyte in %s: bad_file, before the text is read',
  async (_, header, page, isOptional) => {
    await expect(samplesOf(await writePage(header, page, isOptional))).rejects.toMatchObject({
      code: 'bad_file',
      message: expect.stringMatching(/Write smaller row groups/),
    });
  },
);

test('Parquet import: sensor names in DELTA_BYTE_ARRAY, one of them null: every name is read exactly', async () => {
  const data = ['temperature-1', null, 'temperature-2', 'temperature-20'];
  const bytes = parquetWriteBuffer({
    codec: 'SNAPPY',
    columnData: [
      { name: 'ts', data: [0, 1, 2, 3], type: 'DOUBLE' },
      { name: 'value', data: [5, 6, 7, 8], type: 'DOUBLE' },
      { name: 'sensor', data, type: 'STRING', encoding: 'DELTA_BYTE_ARRAY', nullable: true },
    ],
  });
  const path = join(directory, 'prefixes.parquet');
  writeFileSync(path, new Uint8Array(bytes));
  expect((await samplesOf(path)).map(([line, sensor]) => [line, sensor])).toEqual([
    [1, 'temperature-1'],
    [2, null],
    [3, 'temperature-2'],
    [4, 'temperature-20'],
  ]);
});

const DECIMAL = { converted_type: 'DECIMAL', precision: 9, scale: 1 } as const;

/** How a column of decimals is stored, and its values without the decimal point. */
const DECIMALS: Array<[form: string, element: Omit<SchemaElement, 'name'>, data: unknown[]]> = [
  ['INT32', { type: 'INT32', ...DECIMAL }, [3n, null, -7n]],
  ['INT64', { type: 'INT64', ...DECIMAL }, [3n, null, -7n]],
  ['bytes', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, ...DECIMAL }, [3n, null, -7n]],
  [
    'INT32 with the newer annotation alone',
    { type: 'INT32', logical_type: { type: 'DECIMAL', precision: 9, scale: 1 } },
    [3, null, -7],
  ],
];

test.each(DECIMALS)(
  'Parquet import: decimals as %s: read as the nearest doubles, and null becomes no sample',
  async (_, element, data) => {
    const bytes = parquetWriteBuffer({
      statistics: false,
      schema: [
        { name: 'root', num_children: 2 },
        { name: 'ts', type: 'DOUBLE', repetition_type: 'REQUIRED' },
        { name: 'a', repetition_type: 'OPTIONAL', ...element },
      ],
      columnData: [
        { name: 'ts', data: [0, 1, 2] },
        { name: 'a', data },
      ],
    });
    const path = join(directory, 'decimals.parquet');
    writeFileSync(path, new Uint8Array(bytes));
    expect(await samplesOf(path)).toEqual([
      [1, 'a', 0, 0.3],
      [3, 'a', 2, -0.7],
    ]);
  },
);

test.each([
  ['GZIP', gzipSync],
  ['BROTLI', brotliCompressSync],
  ['ZSTD', zstdCompressSync],
] as const)('Parquet import: %s: pages of values and of dictionaries are read', async (codec, compress) => {
  const bytes = parquetWriteBuffer({
    columnData: [
      { name: 'ts', data: Array.from({ length: 3000 }, (_, row) => row), type: 'DOUBLE' },
      {
        name: 'a',
        data: Array.from({ length: 3000 }, (_, row) => (row === 7 ? null : row % 3)),
        type: 'DOUBLE',
      },
    ],
    codec,
    compressors: { [codec]: (page: Uint8Array) => new Uint8Array(compress(page)) },
  });
  const path = join(directory, `${codec}.parquet`);
  writeFileSync(path, new Uint8Array(bytes));
  const samples = await samplesOf(path);
  expect(samples.length).toBeGreaterThanOrEqual(2999);
  expect(samples.slice(-2)).toEqual([
    [2999, 'a', 2998, 1],
    [3000, 'a', 2999, 2],
  ]);
});

test('Parquet import: compression that is not supported: bad_file with a remedy', async () => {
  const path = await write(columnsOf(3), ({ row_groups: groups }) => {
    for (const { meta_data: meta } of groups[0]?.columns ?? []) if (meta) meta.codec = 'LZ4_RAW';
  });
  await expect(partsOf(path)).rejects.toMatchObject({
    code: 'bad_file',
    message: expect.stringContaining(
      "Write the file again with Snappy, for example in pandas with to_parquet(…, compression='snappy')",
    ),
  });
});

test('Parquet import: pandas frame with an unnamed index of times and a column of booleans: true is 1, false is 0', async () => {
  const begin = new Date('2026-11-01T00:00:00Z');
  const bytes = parquetWriteBuffer({
    columnData: [
      { name: 'door', data: [true, false], type: 'BOOLEAN' },
      { name: '__index_level_0__', data: [begin, new Date(begin.getTime() + 1)], type: 'TIMESTAMP' },
    ],
  });
  const path = join(directory, 'pandas.parquet');
  writeFileSync(path, new Uint8Array(bytes));
  const [part] = await partsOf(path);
  expect({
    ts: Array.from(part?.ts ?? []).map(Number),
    value: Array.from(part?.value ?? []).map(readValue),
  }).toEqual({
    ts: [begin.getTime(), begin.getTime() + 1],
    value: [1, 0],
  });
});
