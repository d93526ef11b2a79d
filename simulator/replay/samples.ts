import { parseNumber, parseTime } from './cells.js';
import { readRows } from './rows.js';

/** @import { Series } from '../payloads/index.js' */
/** @import { Survey } from './survey.js' */

/**
 * Counts of cells (`empty`, `unreadable`) and of rows (`untimed`, `colliding`).
 *
 * @typedef {{ empty: number, unreadable: number, untimed: number, colliding: number }} Skipped
 */

/**
 * Reads a CSV file and gathers the rows into batches. A column becomes a series.
 *
 * @param {string} path
 * @param {Survey} survey survey of the same file
 * @param {object} options
 * @param {(recorded: number) => number} options.timeline maps a recorded time to the published time, both in epoch ms
 * @param {number} options.rowsPerBatch
 * @param {Skipped} options.skipped counters that grow: empty cells, cells that are no number, rows without a time, and rows that
 *   get the same millisecond as the previous row
 * @returns {AsyncGenerator<Series[]>} batches without empty series
 */
export async function* readBatches(path, survey, { timeline, rowsPerBatch, skipped }) {
  let batch = emptyBatch(survey);
  let [header, rows, previous] = [true, 0, Number.NaN];
  for await (const row of readRows(path)) {
    if (header) {
      header = false;
      continue;
    }
    const recorded = parseTime(row[survey.timeIndex]);
    if (recorded === null) {
      skipped.untimed += 1;
      continue;
    }
    const ts = timeline(recorded);
    if (ts === previous) skipped.colliding += 1;
    previous = ts;
    addRow(batch, { row, ts, survey, skipped });
    rows += 1;
    if (rows % rowsPerBatch === 0) {
      yield* withoutEmpty(batch);
      batch = emptyBatch(survey);
    }
    // Rows that were appended after the survey are ignored. Their times would be in the future, because the last
    // surveyed time is now.
    if (rows === survey.rows) break;
  }
  yield* withoutEmpty(batch);
}

/** @param {Survey} survey @returns {Series[]} */
const emptyBatch = ({ columns }) => columns.map(({ name }) => ({ name, samples: [] }));

/**
 * @param {Series[]} batch
 * @param {{ row: string[], ts: number, survey: Survey, skipped: Skipped }} found
 */
function addRow(batch, { row, ts, survey, skipped }) {
  for (const [position, { index }] of survey.columns.entries()) {
    const cell = row[index] ?? '';
    const value = parseNumber(cell);
    if (value !== null) batch[position]?.samples.push({ ts, value });
    else if (cell === '') skipped.empty += 1;
    else skipped.unreadable += 1;
  }
}

/** @param {Series[]} batch */
function* withoutEmpty(batch) {
  const series = batch.filter(({ samples }) => samples.length > 0);
  if (series.length > 0) yield series;
}
