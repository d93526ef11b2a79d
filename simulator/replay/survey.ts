import { MillraceError } from '../../common/errors.ts';
import { isName } from '../../schema/ids.ts';
import { parseNumber, parseTime } from './cells.ts';
import { readRows } from './rows.ts';

/** A file without a time in these rows has no time column. */
const ROWS_TO_FIND_TIME = 100;

const ROWS_PER_PROGRESS = 10_000;

type Column = { index: number; name: string };

export interface Survey {
  timeIndex: number;
  /** hold numbers; each becomes a sensor */
  columns: Column[];
  /** names of the columns that hold no numbers */
  textColumns: string[];
  /** rows that have a time */
  rows: number;
  /** rows whose time is missing or cannot be read */
  untimed: number;
  first: number;
  last: number;
}

/** The replay needs the last time before it sends the first row. @throws `usage` when there is nothing to replay */
export async function surveyFile(
  path: string,
  onProgress: (rows: number) => void = () => {},
): Promise<Survey> {
  let names: string[] = [];
  const numeric: Set<number> = new Set();
  let timeIndex = -1;
  let [rows, untimed, first, last] = [0, 0, Infinity, -Infinity];
  for await (const row of readRows(path)) {
    if (names.length === 0) {
      names = nameColumns(path, row);
      continue;
    }
    if (timeIndex < 0) timeIndex = row.findIndex((cell) => parseTime(cell) !== null);
    const time = parseTime(row[timeIndex]);
    if (time === null) {
      untimed += 1;
      if (timeIndex < 0 && untimed === ROWS_TO_FIND_TIME) break;
      continue;
    }
    rows += 1;
    if (rows % ROWS_PER_PROGRESS === 0) onProgress(rows);
    first = Math.min(first, time);
    last = Math.max(last, time);
    for (const [index, cell] of row.entries()) {
      if (!numeric.has(index) && parseNumber(cell) !== null) numeric.add(index);
    }
  }
  if (rows === 0) throw new MillraceError('usage', nothingToReplay(path, names, untimed));
  const others = names.map((name, index) => ({ name, index })).filter(({ index }) => index !== timeIndex);
  const columns = others.filter(({ index }) => numeric.has(index));
  if (columns.length === 0) {
    throw new MillraceError('usage', `${path} has no column of numbers next to "${names[timeIndex]}".`);
  }
  const textColumns = others.filter(({ index }) => !numeric.has(index)).map(({ name }) => name);
  return { timeIndex, columns, textColumns, rows, untimed, first, last };
}

function nameColumns(path: string, header: string[]): string[] {
  const names = header.map((cell, index) => cell || `column-${index + 1}`);
  const wrong = names.find((name, index) => !isName(name) || names.indexOf(name) !== index);
  if (wrong === undefined) return names;
  throw new MillraceError(
    'usage',
    `${path}: each column becomes a sensor, so each needs a name of its own of at most 128 bytes; look at "${wrong}".`,
  );
}

function nothingToReplay(path: string, names: string[], untimed: number) {
  if (untimed === 0) return `${path} has no rows to replay.`;
  const shown = names.slice(0, 10).join(', ');
  return (
    `${path} has no time column among ${shown}: one must hold ISO 8601 times such as ` +
    '2026-11-21T10:00:00Z or "2026-11-21 10:00:00".'
  );
}

/**
 * Returns the function that maps a recorded time to its replayed time. Times are compressed by `speed` and shifted so that the
 * last time is now.
 *
 *     replayed(t) = now - round((last - t) / speed)
 *
 * With `speed` 60 an hour of the file takes a minute. All times are whole epoch milliseconds, so anyone can repeat the
 * calculation and compare every value.
 * @param options `last`: latest time in the file; `now`: the replayed time of `last`
 */
export const createTimeline =
  ({ last, now, speed }: { last: number; now: number; speed: number }): ((recorded: number) => number) =>
  (recorded) =>
    now - Math.round((last - recorded) / speed);
