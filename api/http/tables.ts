import { CHUNK, refusePaging } from './export.js';
import { abortOnClose } from './long-requests.js';
import { createWrite } from './write.js';

/** @import { Request, Response } from 'express' */
/** @import { TextType } from './export.js' */
/** @import { ConcurrencyLimit } from './long-requests.js' */

// Tables are answers with one row for each item, as CSV or NDJSON. Unlike an export of samples, tables contain names, which
// devices choose.

/** @typedef {string | number | boolean | null} Cell */
/** @typedef {Record<string, Cell>} TableRow */

const EXTENSIONS = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' };

/**
 * Texts that a spreadsheet would evaluate as a formula, also behind the apostrophes that `csvCell` puts in front. So an import can remove one
 * apostrophe from each text of this form.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

/** Texts that need quotes: those with marks of CSV (RFC 4180), and those whose white space a reader would remove. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * @param {Cell} cell
 * @returns {string} the cell as CSV; a text that a spreadsheet would evaluate as a formula gets an apostrophe in front
 */
export function csvCell(cell) {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {TextType} type @param {string[]} columns @returns {(row: TableRow) => string} */
const lineOf = (type, columns) =>
  type === 'text/csv'
    ? (row) => `${columns.map((column) => csvCell(row[column] ?? null)).join(',')}\n`
    : (row) => `${JSON.stringify(row)}\n`;

/**
 * Streams a table as a file. It sends nothing before the first rows are read. So if that read fails, the answer can still be a
 * problem document.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} options
 * @param {ConcurrencyLimit} options.limit
 * @param {TextType} options.type
 * @param {string} options.name name of the file, without its extension
 * @param {string[]} options.columns
 * @param {(signal: AbortSignal) => AsyncIterable<Iterable<TableRow>>} options.read reads rows; each row has all columns, in
 *   their order
 * @throws {MillraceError} `bad_parameter`, `busy`, and the errors of `read`
 */
export async function sendTable(req, res, { limit, type, name, columns, read }) {
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

/** @param {Response} res @param {TextType} type @param {string} name */
const describe = (res, type, name) =>
  res.headersSent
    ? res
    : res.attachment(`${name}.${EXTENSIONS[type]}`).set('Content-Type', `${type}; charset=utf-8`);

/**
 * Reads all pages of a listing.
 *
 * @template T, P
 * @param {AbortSignal} signal
 * @param {(after: P | null) => Promise<{ rows: T[], next: P | null }>} read
 * @returns {AsyncGenerator<T[], void>} the rows of one page after the other
 * @throws the reason with which `signal` was aborted
 */
export async function* allPages(signal, read) {
  /** @type {P | null} */
  let after = null;
  do {
    signal.throwIfAborted();
    const { rows, next } = await read(after);
    yield rows;
    after = next;
  } while (after !== null);
}
