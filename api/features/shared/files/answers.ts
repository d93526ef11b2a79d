import type { Request, Response } from 'express';
import { MillraceError } from '../../../../common/errors.ts';
import type { Content } from '../../../http/contract/operation.ts';
import { abortOnClose } from '../../../http/index.ts';
import type { ConcurrencyLimit } from '../../../http/long-requests.ts';
import { COLUMN_FORMATS, type ColumnType } from '../columns/index.ts';
import { CHUNK, createWrite } from './write.ts';

export const COLUMN_CONTENT: Content = {
  'application/vnd.apache.parquet': {
    text: 'A Parquet file. Each row group has the exact least and greatest value of each column.',
  },
  'application/vnd.apache.arrow.stream': { text: 'An Arrow IPC stream. The labels are dictionaries.' },
};

/** Extensions of file names. */
const TEXTS = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' };

export type TextType = keyof typeof TEXTS;

export type FileType = TextType | ColumnType;

const TEXT_TYPES = Object.keys(TEXTS) as TextType[];

const FILE_TYPES = [...TEXT_TYPES, ...(Object.keys(COLUMN_FORMATS) as ColumnType[])];

/** By the parameter `format`, which exists because a link cannot send `Accept`. Null: the answer is not a file. */
export const TYPE_OF = {
  json: null,
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
} as const;

export const hasColumns = (type: FileType): type is ColumnType => Object.hasOwn(COLUMN_FORMATS, type);

/** `format` replaces `Accept`. Null: the answer is JSON. */
export const fileType = (req: Request, format: keyof typeof TYPE_OF | undefined): FileType | null =>
  format === undefined ? preferred(req, FILE_TYPES) : TYPE_OF[format];

/** As `fileType`, for answers that are no samples. */
export const tableType = (req: Request, format: 'json' | 'csv' | 'ndjson' | undefined): TextType | null =>
  format === undefined ? preferred(req, TEXT_TYPES) : TYPE_OF[format];

/**
 * Pages of JSON come first, so that they win a tie. Each type is also offered with its charset, because an `Accept` with a charset matches
 * only such a type.
 */
function preferred<T extends FileType>(req: Request, types: T[]): T | null {
  const served = ['application/json', ...types].flatMap((type) => [type, `${type}; charset=utf-8`]);
  const wanted = String(req.accepts(served));
  return types.find((type) => wanted.startsWith(type)) ?? null;
}

/** A file of Parquet or Arrow. @throws `busy`, and the errors of `encode` */
export async function sendEncoded(
  req: Request,
  res: Response,
  {
    limit,
    type,
    name,
    encode,
  }: {
    limit: ConcurrencyLimit;
    type: ColumnType;
    name: string;
    encode: (signal: AbortSignal) => AsyncIterable<Uint8Array>;
  },
) {
  await sendFile(req, res, {
    limit,
    type,
    name,
    async send(signal) {
      const write = createWrite(res, signal, 'latin1');
      for await (const bytes of encode(signal)) await write(bytes);
      res.end();
    },
  });
}

/** It sends nothing before `send` writes. So if `send` fails before, the answer is a problem document. @throws `busy`, and the errors of `send` */
export async function sendFile(
  req: Request,
  res: Response,
  {
    limit,
    type,
    name,
    send,
  }: {
    limit: ConcurrencyLimit;
    type: string;
    name: string;
    send: (signal: AbortSignal) => Promise<void>;
  },
) {
  res.once('close', limit.acquire());
  res.attachment(name).set('Content-Type', type);
  if (req.method === 'HEAD') return void res.end();
  try {
    await abortOnClose(res, send);
  } catch (error) {
    if (!res.headersSent) res.removeHeader('Content-Disposition');
    throw error;
  }
}

/** A file is the whole answer, so it has no pages. `others`: further parameters that `type` does not support. @throws `bad_parameter` */
export function refusePaging(req: Request, type: string, others: string[] = []) {
  const given = ['limit', 'cursor', ...others].filter((parameter) => parameter in req.query);
  if (given.length === 0) return;
  throw new MillraceError('bad_parameter', 'A file is the whole answer. It has no pages.', {
    details: { parameters: given.map((name) => ({ name, reason: `not allowed with ${type}` })) },
  });
}

export type Cell = string | number | boolean | null;
export type TableRow = Record<string, Cell>;

/**
 * A spreadsheet would evaluate such a text as a formula, also behind the apostrophes that `csvCell` puts in front. So a reader of the file
 * can remove one apostrophe from each text of this form.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

/** Texts with marks of CSV (RFC 4180) need quotes, and so do those whose white space a reader would remove. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** A text that a spreadsheet would evaluate as a formula gets an apostrophe in front. */
export function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const lineOf = (type: TextType, columns: string[]): ((row: TableRow) => string) =>
  type === 'text/csv'
    ? (row) => `${columns.map((column) => csvCell(row[column] ?? null)).join(',')}\n`
    : (row) => `${JSON.stringify(row)}\n`;

/** One row for each item, as CSV or NDJSON. Throws `bad_parameter`, `busy`, and the errors of `read`. */
export async function sendTable(
  req: Request,
  res: Response,
  {
    limit,
    type,
    name,
    columns,
    read,
  }: {
    limit: ConcurrencyLimit;
    type: TextType;
    /** file name without its extension */
    name: string;
    columns: string[];
    /** each row has all columns, in their order */
    read: (signal: AbortSignal) => AsyncIterable<Iterable<TableRow>>;
  },
) {
  refusePaging(req, type);
  const line = lineOf(type, columns);
  await sendFile(req, res, {
    limit,
    type: `${type}; charset=utf-8`,
    name: `${name}.${TEXTS[type]}`,
    async send(signal) {
      const write = createWrite(res, signal, 'utf8');
      let text = type === 'text/csv' ? `${columns.join(',')}\n` : '';
      for await (const rows of read(signal)) {
        for (const row of rows) {
          text += line(row);
          if (text.length < CHUNK) continue;
          await write(text);
          text = '';
        }
      }
      res.end(text);
    },
  });
}
