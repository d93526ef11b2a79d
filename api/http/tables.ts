import type { Request, Response } from 'express';
import { CHUNK, refusePaging, type TextType } from './export.ts';
import { abortOnClose, type ConcurrencyLimit } from './long-requests.ts';
import { createWrite } from './write.ts';

// Tables are answers with one row for each item, as CSV or NDJSON. Unlike an export of samples, tables contain names, which devices choose.

export type Cell = string | number | boolean | null;
export type TableRow = Record<string, Cell>;

const EXTENSIONS = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' };

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

/**
 * It sends nothing before the first rows are read. So if that read fails, the answer can still be a problem document. Throws
 * `bad_parameter`, `busy`, and the errors of `read`.
 */
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
  res.once('close', limit.acquire());
  if (req.method === 'HEAD') return void describe(res, type, name).end();
  const line = lineOf(type, columns);
  await abortOnClose(res, async (signal) => {
    const write = createWrite(res, signal, 'utf8');
    let text = type === 'text/csv' ? `${columns.join(',')}\n` : '';
    for await (const rows of read(signal)) {
      if (!res.headersSent) describe(res, type, name);
      for (const row of rows) {
        text += line(row);
        if (text.length < CHUNK) continue;
        await write(text);
        text = '';
      }
    }
    describe(res, type, name).end(text);
  });
}

const describe = (res: Response, type: TextType, name: string) =>
  res.headersSent
    ? res
    : res.attachment(`${name}.${EXTENSIONS[type]}`).set('Content-Type', `${type}; charset=utf-8`);

/** The rows of one page after the other. @throws the reason with which `signal` was aborted */
export async function* allPages<T, P>(
  signal: AbortSignal,
  read: (after: P | null) => Promise<{ rows: T[]; next: P | null }>,
): AsyncGenerator<T[], void> {
  let after: P | null = null;
  do {
    signal.throwIfAborted();
    const { rows, next } = await read(after);
    yield rows;
    after = next;
  } while (after !== null);
}
