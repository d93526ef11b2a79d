import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { MillraceError } from '../../common/errors.js';
import { parseJsonText } from '../ingest/decode/index.js';
import { layoutOf, RowList, SAMPLES_AT_ONCE } from './rows.js';

/** @import { Layout, Rows } from './rows.js' */

/** Limit of lines in one `Rows` object. */
const LINES_AT_ONCE = 5000;

/** Limit of the length of a line, in characters. */
const MAX_LINE = 1024 * 1024;

/** Limit of lines in a turn of the event loop. A chunk of 64 KiB may be 65,536 empty lines, which take 70 ms. */
const LINES_A_TURN = 8192;

/** Limit of quotes in a line of CSV. The parser of quotes takes 0.3 s for 400,000 of them. */
const MAX_QUOTES = 10_000;

/** The byte order mark that programs on Windows write before the first line. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** Characters that may separate the cells of a CSV file. */
const DELIMITERS = [',', ';', '\t'];

/**
 * Reads CSV: one sample per row, or a column for each sensor. The first line names the columns. A quoted cell
 * must not contain a newline.
 *
 * @param {AsyncIterable<Buffer>} source
 * @param {{ device: string | undefined }} options
 * @returns {AsyncGenerator<Rows, void>}
 * @throws {MillraceError} `bad_file`
 */
export async function* readCsv(source, { device }) {
  /** @type {Head | undefined} */
  let head;
  let list = new RowList(device);
  let line = 0;
  let rows = 0;
  for await (const text of linesOf(source)) {
    line++;
    if (text.trim() === '') continue;
    if (!head) {
      head = readHead(text, device);
      continue;
    }
    addRecord(list, line, cellsOf(text, head.delimiter), head);
    list.end = ++rows;
    if (rows % LINES_AT_ONCE !== 0 && list.lines.length < SAMPLES_AT_ONCE) continue;
    yield list;
    list = new RowList(device);
    list.end = rows;
  }
  if (!head) throw new MillraceError('bad_file', 'The file is empty.');
  yield list;
}

/**
 * The first line of a CSV file. `width`: number of its cells, of which the last may be empty.
 *
 * @typedef {{ delimiter: string, layout: Layout, columns: Map<string, number>, width: number }} Head
 */

/** @param {string} text the first line @param {string | undefined} device @returns {Head} @throws {MillraceError} `bad_file` */
function readHead(text, device) {
  const line = text.replace(BYTE_ORDER_MARK, '');
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
  const names = cellsOf(line, delimiter) ?? [];
  const columns = new Map(names.map((name, index) => [name, index]));
  const twice = names.find((name, index) => name !== '' && columns.get(name) !== index);
  if (twice !== undefined) throw new MillraceError('bad_file', `Two columns are named ${twice}. Rename one.`);
  return { delimiter, layout: layoutOf(names, device), columns, width: names.length };
}

/** @param {RowList} list @param {number} line @param {string[] | null} cells @param {Head} head */
function addRecord(list, line, cells, { layout, columns, width }) {
  if (cells === null)
    list.malformed.push({ line, rule: `must have an even number of quotes, and at most ${MAX_QUOTES}` });
  else if (cells.length > width)
    list.malformed.push({ line, rule: `must not have more than ${width} cells` });
  else list.add(line, layout, (name) => cells[columns.get(name) ?? -1]);
}

/**
 * Splits a line into cells. Lines without quotes are split directly, because the parser of quotes takes 5 µs more per row.
 *
 * @param {string} text
 * @param {string} delimiter
 * @returns {string[] | null} cells; null: a quote is not closed, or there are too many
 */
function cellsOf(text, delimiter) {
  if (!text.includes('"')) return text.split(delimiter).map((cell) => cell.trim());
  if (text.split('"').length > MAX_QUOTES + 1) return null;
  try {
    return parse(text, { delimiter, trim: true, relax_column_count: true })[0] ?? [];
  } catch {
    return null;
  }
}

/**
 * Reads NDJSON: objects with `ts`, `device`, `sensor` and `value`, or with `ts`, `device` and a member for each sensor.
 *
 * @param {AsyncIterable<Buffer>} source
 * @param {{ device: string | undefined }} options
 * @returns {AsyncGenerator<Rows, void>}
 */
export async function* readNdjson(source, { device }) {
  let list = new RowList(device);
  let line = 0;
  for await (const text of linesOf(source)) {
    line++;
    list.end = line;
    const json = line === 1 ? text.replace(BYTE_ORDER_MARK, '') : text;
    if (json.trim() !== '') addObject(list, line, json, device);
    if (line % LINES_AT_ONCE !== 0 && list.lines.length < SAMPLES_AT_ONCE) continue;
    yield list;
    list = new RowList(device);
    list.end = line;
  }
  yield list;
}

/** @param {RowList} list @param {number} line @param {string} text @param {string | undefined} device */
function addObject(list, line, text, device) {
  try {
    const object = parseJsonText(text);
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      list.malformed.push({ line, rule: 'must be an object' });
      return;
    }
    list.add(line, layoutOf(Object.keys(object), device), (name) => object[name]);
  } catch (error) {
    list.malformed.push({ line, rule: /** @type {Error} */ (error).message });
  }
}

/** @param {AsyncIterable<Buffer>} source @returns {AsyncGenerator<string, void>} */
async function* linesOf(source) {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (let first = 0; first < lines.length; first += LINES_A_TURN) {
      if (first > 0) await setImmediate();
      yield* lines.slice(first, first + LINES_A_TURN);
    }
    if (rest.length > MAX_LINE)
      throw new MillraceError('bad_file', `A line has more than ${MAX_LINE} characters.`);
  }
  rest += decoder.end();
  if (rest !== '') yield rest;
}
