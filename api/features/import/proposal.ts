import { encodingOf } from '../../../common/encodings.ts';
import { DELIMITERS, declaredDelimiter, delimiterOf, isComment, isUnit, parseCells } from './dialect.ts';
import type { FileFormat } from './files.ts';
import { proposeColumns } from './proposed-columns.ts';
import { isPlausible } from './time-formats.ts';

const MAX_LINES = 200;

export const PROPOSAL_BYTES = 256 * 1024;

/** For somebody who knows the file. `choices`: usual answers. An answer in the proposal is likely, but not sure. */
type Question = { option: string; text: string; choices: string[] };

export interface Proposal {
  /** only values that are not defaults */
  options: Record<string, string>;
  questions: Question[];
  columns: string[];
}

export type Table = { names: string[]; rows: string[][]; delimiter: string };

/**
 * From the beginning of a file. Questions remain where its lines do not show the answer. `now`: epoch ms, for dates that may be in the
 * future.
 */
export function proposeOptions(
  bytes: Buffer,
  { format, now }: { format: FileFormat; now: number },
): Proposal {
  const proposal: Proposal = { options: {}, questions: [], columns: [] };
  if (format === 'parquet') return proposal;
  const text = decodedHead(bytes, proposal);
  const lines = text.split(/\r?\n/);
  // The last line may be cut.
  if (bytes.length >= PROPOSAL_BYTES) lines.pop();
  const table = format === 'ndjson' ? objectTable(lines) : csvTable(lines.slice(0, MAX_LINES), proposal);
  if (!table) {
    proposal.questions.push({
      option: 'header_line',
      text: 'No table was found in the first lines.',
      choices: [],
    });
    return proposal;
  }
  proposal.columns = table.names;
  proposeColumns(table, proposal, now);
  return proposal;
}

function decodedHead(bytes: Buffer, { options, questions }: Proposal) {
  const { charset, mark } = encodingOf(bytes);
  const content = bytes.subarray(mark);
  if (charset !== 'utf-8')
    return charset.startsWith('utf-32') ? '' : new TextDecoder(charset).decode(content);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content, { stream: true });
  } catch {
    options['encoding'] = 'windows-1252';
    const text = new TextDecoder('windows-1252').decode(content);
    const shown = /\S*[\u0080-\u00ff]\S*/.exec(text)?.[0].slice(0, 40) ?? '';
    questions.push({
      option: 'encoding',
      text: `The text is not UTF-8. In Windows-1252 it has \`${shown}\`: is that right?`,
      choices: ['windows-1252'],
    });
    return text;
  }
}

function csvTable(lines: string[], { options }: Proposal): Table | null {
  const declared = declaredDelimiter(lines[0] ?? '');
  const regular = mostRegular(declared === null ? Object.values(DELIMITERS) : [declared], lines);
  if (!regular) return null;
  const { delimiter, cells, width } = regular;
  const first = cells.findIndex((row) => row?.length === width && isData(row));
  if (first < 0) return null;
  const above = cells.findLastIndex(
    (row, index) => index < first && row?.length === width && !isEmptyRow(row),
  );
  const hasUnits = above > 0 && isUnitRow(cells[above] ?? []);
  const header = hasUnits
    ? cells.findLastIndex((row, index) => index < above && row?.length === width && !isEmptyRow(row))
    : above;
  if (hasUnits && header >= 0) options['units'] = 'row';
  const usual = lines.findIndex(
    (line, index) => line.trim() !== '' && !isComment(line) && !(index === 0 && declared),
  );
  if (header < 0) options['header_line'] = '0';
  else if (header !== usual) options['header_line'] = String(header + 1);
  const named = lines[header < 0 ? first : header] ?? '';
  if (declared === null && delimiterOf(named) !== delimiter)
    options['delimiter'] = String(Object.entries(DELIMITERS).find(([, char]) => char === delimiter)?.[0]);
  if (lines.some((line, index) => index > first && isComment(line))) options['comment'] = '#';
  const names = header < 0 ? (cells[first] ?? []).map((_, index) => `#${index + 1}`) : (cells[header] ?? []);
  const rows = cells.slice(first).filter((row) => row !== null && row.length <= width && !isEmptyRow(row));
  return { names, rows: rows as string[][], delimiter };
}

/** The delimiter with which most lines have the same number of cells. A comment or a broken line has null `cells`. */
function mostRegular(
  delimiters: string[],
  lines: string[],
): { delimiter: string; cells: Array<string[] | null>; width: number } | null {
  let best = null;
  let greatestWeight = 0;
  for (const delimiter of delimiters) {
    const cells = lines.map((line) =>
      isComment(line) || line.trim() === '' ? null : parseCells(line, delimiter),
    );
    const widths: Map<number, number> = new Map();
    for (const row of cells)
      if (row && row.length > 1) widths.set(row.length, (widths.get(row.length) ?? 0) + 1);
    const [width = 0, count = 0] = [...widths].sort((a, b) => b[1] - a[1])[0] ?? [];
    // A semicolon or a tab is never a decimal sign or a part of a name.
    const weight = count * (delimiter === ',' ? 1 : 1.2);
    if (weight <= greatestWeight) continue;
    greatestWeight = weight;
    best = { delimiter, cells, width };
  }
  return best;
}

const isEmptyRow = (row: string[]) => row.every((cell) => cell === '');

/** A row of data has a time, or mostly numbers. */
function isData(row: string[]): boolean {
  const filled = row.filter((cell) => cell !== '');
  if (filled.some((cell) => isCalendar(cell) || isEpoch(cell))) return true;
  const numbers = filled.filter((cell) => /^[+\-−]?[\d.,'’ \u00a0\u202f]*\d(?:e[+-]?\d+)?$/i.test(cell));
  return numbers.length > filled.length / 2;
}

const isCalendar = (cell: string): boolean =>
  /\d\D+\d|[a-z]/i.test(cell) &&
  (['iso', 'day-first', 'month-first'] as const).some((format) => isPlausible(cell, format));

const isEpoch = (cell: string) =>
  /^\d{9,19}(?:\.\d+)?$/.test(cell) &&
  (['s', 'ms', 'us', 'ns'] as const).some((format) => isPlausible(cell, format));

const isUnitRow = (row: string[]) =>
  row.some((cell) => isUnit(cell)) && row.every((cell) => isUnit(cell) || cell.length <= 10) && !isData(row);

function objectTable(lines: string[]): Table | null {
  const objects: Array<Record<string, unknown>> = [];
  for (const line of lines.slice(0, MAX_LINES)) {
    try {
      const object = JSON.parse(line);
      if (object && typeof object === 'object' && !Array.isArray(object)) objects.push(object);
    } catch {
      // The import refuses this line.
    }
  }
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  if (names.length === 0) return null;
  return {
    names,
    rows: objects.map((object) => names.map((name) => String(object[name] ?? ''))),
    delimiter: ',',
  };
}
