import { MillraceError, messageOf } from '../../../common/errors.ts';
import { parseJsonText } from '../../ingest/decode/index.ts';
import { DELIMITERS, declaredDelimiter, delimiterOf, isComment, parseCells } from './dialect.ts';
import { linesOf } from './lines.ts';
import { type Layout, type LayoutOptions, layoutOf, RowList, type Rows, SAMPLES_AT_ONCE } from './rows.ts';

/** In a turn of the event loop. 5,000 refused lines took 90 ms on a busy machine. */
const LINES_AT_ONCE = 1000;

/**
 * One sample per row, or a column for each sensor. A line names the columns. A quoted cell must not contain a
 * newline.
 * @throws `bad_file`
 */
export async function* readCsv(
  source: AsyncIterable<Buffer>,
  options: LayoutOptions,
): AsyncGenerator<Rows, void> {
  const reader = new HeadReader(options);
  const { device, comment } = options;
  let list = new RowList(device, true);
  let line = 0;
  let rows = 0;
  for await (const text of linesOf(source, options.encoding)) {
    line++;
    const { head } = reader;
    if (!head) {
      if (!reader.read(text, line)) continue;
    } else if (text.trim() === '' || text === head.text || (comment && text.startsWith(comment))) continue;
    const header = reader.head as Head;
    addRecord(list, line, parseCells(text, header.delimiter), header);
    list.end = ++rows;
    if (rows % LINES_AT_ONCE !== 0 && list.lines.length < SAMPLES_AT_ONCE) continue;
    yield list;
    list = new RowList(device, true);
    list.end = rows;
  }
  if (!reader.head) throw reader.end(line);
  yield list;
}

/** `text`: line of names, null if there is none. `width`: number of its cells, of which the last may be empty. */
type Head = {
  text: string | null;
  delimiter: string;
  layout: Layout;
  columns: Map<string, number>;
  width: number;
};

/** Reads the lines of a CSV file up to the last one before the data. */
class HeadReader {
  head: Head | null = null;
  #options;
  #delimiter: string | undefined;
  /** The line of names, kept until the line of units is read. */
  #names: string | null = null;

  constructor(options: LayoutOptions) {
    this.#options = options;
    this.#delimiter = options.delimiter && DELIMITERS[options.delimiter];
  }

  read(text: string, line: number): boolean {
    const { header_line: wanted, comment, units } = this.#options;
    if (text.trim() === '') return false;
    if (this.#names !== null) {
      this.#begin(this.#names, text);
      return false;
    }
    const declared = line === 1 ? declaredDelimiter(text) : null;
    if (declared !== null) {
      this.#delimiter ??= declared;
      return false;
    }
    const isSkipped = isComment(text) || (comment !== undefined && text.startsWith(comment));
    if (wanted === undefined || wanted === 0 ? isSkipped : line < wanted) return false;
    if (wanted === 0) {
      const delimiter = this.#delimiter ?? delimiterOf(text);
      this.#beginWith(
        (parseCells(text, delimiter) ?? []).map((_, index) => `#${index + 1}`),
        delimiter,
        null,
        null,
      );
      return true;
    }
    if (units === 'row') this.#names = text;
    else this.#begin(text, null);
    return false;
  }

  end(lines: number): MillraceError {
    const { header_line: wanted = 0 } = this.#options;
    if (wanted <= lines) return new MillraceError('bad_file', 'The file is empty.');
    return new MillraceError(
      'bad_file',
      `The file has ${lines} lines, so the line of \`header_line=${wanted}\` does not exist.`,
    );
  }

  #begin(text: string, units: string | null) {
    // A comment may hold the names: `# time,temp`.
    const line = isComment(text) ? text.replace(/^#\s*/, '') : text;
    const delimiter = this.#delimiter ?? delimiterOf(line);
    this.#beginWith(
      parseCells(line, delimiter) ?? [],
      delimiter,
      units === null ? null : parseCells(units, delimiter),
      text,
    );
  }

  #beginWith(names: string[], delimiter: string, units: string[] | null, text: string | null) {
    const columns = new Map(names.map((name, index) => [name, index]));
    const twice = names.find((name, index) => name !== '' && columns.get(name) !== index);
    if (twice !== undefined)
      throw new MillraceError('bad_file', `Two columns are named ${twice}. Rename one.`);
    const layout = layoutOf(names, this.#options, units);
    this.head = { text, delimiter, layout, columns, width: names.length };
  }
}

function addRecord(list: RowList, line: number, cells: string[] | null, head: Head) {
  const { layout, columns, width } = head;
  if (cells === null) list.malformed.push({ line, rule: 'must have an even number of quotes' });
  else if (cells.length > width) list.malformed.push({ line, rule: tooManyCells(cells, head) });
  else list.add(line, layout, (name) => cells[columns.get(name) ?? -1]);
}

function tooManyCells(cells: string[], { width, delimiter }: Head) {
  const rule = `must not have more than ${width} cells`;
  const isFull = cells.filter((cell) => cell !== '').length > width;
  return delimiter === ',' && isFull ? `${rule}; values with a decimal comma need quotes` : rule;
}

/** Objects have `ts`, `device`, `sensor` and `value`, or `ts`, `device` and a member for each sensor. */
export async function* readNdjson(
  source: AsyncIterable<Buffer>,
  options: LayoutOptions,
): AsyncGenerator<Rows, void> {
  const { device } = options;
  const layouts = new LayoutCache(options);
  let list = new RowList(device, false);
  let line = 0;
  for await (const text of linesOf(source, options.encoding)) {
    line++;
    list.end = line;
    if (text.trim() !== '') addObject(list, line, text, layouts);
    if (line % LINES_AT_ONCE !== 0 && list.lines.length < SAMPLES_AT_ONCE) continue;
    yield list;
    list = new RowList(device, false);
    list.end = line;
  }
  yield list;
}

/** Most objects of a file have the same members, so the last layout is kept. */
class LayoutCache {
  #options;
  #names: string[] = [];
  #layout: Layout | null = null;

  constructor(options: LayoutOptions) {
    this.#options = options;
  }

  /** @throws `bad_file` */
  of(names: string[]): Layout {
    const isSame =
      names.length === this.#names.length && names.every((name, index) => name === this.#names[index]);
    if (this.#layout && isSame) return this.#layout;
    this.#layout = layoutOf(names, this.#options);
    this.#names = names;
    return this.#layout;
  }
}

function addObject(list: RowList, line: number, text: string, layouts: LayoutCache) {
  try {
    const object = parseJsonText(text);
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      list.malformed.push({ line, rule: 'must be an object' });
      return;
    }
    list.add(line, layouts.of(Object.keys(object)), (name) => (object as Record<string, unknown>)[name]);
  } catch (error) {
    list.malformed.push({ line, rule: messageOf(error) });
  }
}
