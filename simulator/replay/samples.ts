import type { Series } from '../payloads/index.ts';
import { parseNumber, parseTime } from './cells.ts';
import { readRows } from './rows.ts';
import type { Survey } from './survey.ts';

/** `empty` and `unreadable` count cells, `untimed` and `colliding` rows. */
export type Skipped = { empty: number; unreadable: number; untimed: number; colliding: number };

/** Gathers rows into batches. A column becomes a series. @param survey of the same file @returns batches without empty series */
export async function* readBatches(
  path: string,
  survey: Survey,
  {
    timeline,
    rowsPerBatch,
    skipped,
  }: {
    /** from recorded to published time, both in epoch ms */
    timeline: (recorded: number) => number;
    rowsPerBatch: number;
    /** grows: empty cells, cells that are no number, rows without a time, and rows that get the same millisecond as the previous row */
    skipped: Skipped;
  },
): AsyncGenerator<Series[]> {
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
    // Rows that were appended after the survey are ignored. Their times would be in the future, because the last surveyed time is now.
    if (rows === survey.rows) break;
  }
  yield* withoutEmpty(batch);
}

const emptyBatch = ({ columns }: Survey): Series[] => columns.map(({ name }) => ({ name, samples: [] }));

function addRow(
  batch: Series[],
  { row, ts, survey, skipped }: { row: string[]; ts: number; survey: Survey; skipped: Skipped },
) {
  for (const [position, { index }] of survey.columns.entries()) {
    const cell = row[index] ?? '';
    const value = parseNumber(cell);
    if (value !== null) batch[position]?.samples.push({ ts, value });
    else if (cell === '') skipped.empty += 1;
    else skipped.unreadable += 1;
  }
}

function* withoutEmpty(batch: Series[]) {
  const series = batch.filter(({ samples }) => samples.length > 0);
  if (series.length > 0) yield series;
}
