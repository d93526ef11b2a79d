/** A clause of the history rule, which `-DNO_<NAME>` takes out of `history.pml`. */
export interface Clause {
  name: string;
  /** for the page */
  rule: string;
  code: string;
  /** the smallest system that shows the counterexample */
  system: System;
}

/** `passes`: of both packers; `end`: ticks of two minutes; `small`: one ingest process; `messages`: no corrections */
export interface System {
  passes: number;
  end: number;
  small?: boolean;
  messages?: boolean;
}

/** Verified without an error. */
export const WHOLE: System = { passes: 2, end: 5 };

/** Checked for each change of the project, with one ingest process. */
export const BRIEF: System = { passes: 1, end: 4 };

const SMALL: System = { ...BRIEF, small: true };

export const CLAUSES: Clause[] = [
  ['COMMIT', 'Ingest reads the clock after the commit', 'api/ingest/sample-writer.ts', SMALL],
  ['MARGIN', 'A message is late within the margin before the closing', 'schema/rules.ts', SMALL],
  ['LATE_ROW', 'Late samples are in history before the acknowledgement', 'api/ingest/late-samples.ts', SMALL],
  ['MARK', 'A late hour is marked before the acknowledgement', 'api/ingest/late-samples.ts', SMALL],
  ['NEWEST_MARK', 'Of two marks the later one stays', 'api/store/history/writes.ts', BRIEF],
  ['EXACT', 'Statistics are exact if the mark is older by the margin', 'schema/rules.ts', BRIEF],
  ['GUARD', 'A process with a wrong clock waits', 'api/store/clock-guard.ts', SMALL],
  ['CLOSED', 'A packer waits until the hour has closed', 'api/history/packing/packer.ts', SMALL],
  ['READ_FROM', 'A packer reads the clock before the samples', 'api/history/packing/passes.ts', BRIEF],
  [
    'MERGE',
    'A packer merges what history has',
    'api/history/packing/pack-sensor-hour.ts',
    { passes: 2, end: 4, messages: true },
  ],
  ['ROW_FIRST', 'Samples are committed before statistics', 'api/history/packing/pack-sensor-hour.ts', SMALL],
  ['UNTIL', '`packed_until` moves last', 'api/history/packing/packer.ts', SMALL],
  ['ORDER', 'A reader reads `packed_until`, then statistics', 'api/history/reading/hours.ts', SMALL],
  ['BOTH', 'A reader of an unpacked hour reads both tables', 'api/history/reading/samples.ts', SMALL],
  ['REVISION', 'The greatest revision wins', 'schema/packed/series.ts', BRIEF],
  ['MARK_FIRST', 'A correction marks the hour before its row', 'api/ingest/revisions.ts', SMALL],
  ['RENEW', 'An old mark is renewed before the row is written', 'api/ingest/revisions.ts', BRIEF],
  ['REMARK', 'After a long commit a correction is marked again', 'api/ingest/revisions.ts', BRIEF],
].map(([name, rule, code, system]) => ({ name, rule, code, system }) as Clause);
