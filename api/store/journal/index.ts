import { PART } from '../../../schema/migrate/installation.ts';
import { int32 } from '../cql-values.ts';
import { Partition, PendingRow, PendingRows } from '../sending/pending-rows.ts';
import type { Retry } from '../sending/retry.ts';
import type { Session } from '../sending/session.ts';
import { EntriesWriter, entryBytes, type JournalEntry, MAX_ENTRIES_BYTES, readEntries } from './entries.ts';

export type { JournalEntry } from './entries.ts';

const INSERT = 'INSERT INTO journal (run, segment, number, messages) VALUES (?, ?, ?, ?)';
const SELECT = {
  name: 'read_journal',
  cql: 'SELECT messages FROM journal WHERE run = ? AND segment = ?',
  fetchSize: 100,
};
const REMOVE = { name: 'remove_segment', cql: 'DELETE FROM journal WHERE run = ? AND segment = ?' };
const WRITE_RUN = {
  name: 'write_journal_run',
  cql: 'INSERT INTO journal_run (part, run, process, oldest, newest, beat, ended) VALUES (?, ?, ?, ?, ?, ?, ?)',
};
const SELECT_RUNS = {
  name: 'read_journal_runs',
  cql: 'SELECT run, process, oldest, newest, beat, ended FROM journal_run WHERE part = ?',
};
const REMOVE_RUN = {
  name: 'remove_journal_run',
  cql: 'DELETE FROM journal_run WHERE part = ? AND run = ?',
};

/** Bytes that a server counts for a row in addition to its entries, at most. */
const ROW_WEIGHT = 150;

export interface RunRow {
  /** 16 bytes */
  run: Buffer;
  process: string;
  /** segments that may have rows, both included */
  oldest: number;
  newest: number;
  beat: number;
  ended: boolean;
}

/** The requests of `rows` pass the congestion window, together with other writes of ingest. */
export function createJournalStore(session: Session, { ingest, retry }: { ingest: Session; retry: Retry }) {
  return {
    rows: new JournalRows({ session: ingest, retry }),

    writeRun: ({ run, process, oldest, newest, beat, ended }: RunRow) =>
      session.write(WRITE_RUN, [PART, run, process, int32(oldest), int32(newest), int32(beat), ended]),

    async runs(): Promise<RunRow[]> {
      const rows = await session.all(SELECT_RUNS, [PART]);
      return rows.map((row) => ({
        run: row['run'].getBuffer(),
        process: row['process'],
        oldest: row['oldest'],
        newest: row['newest'],
        beat: row['beat'],
        ended: row['ended'],
      }));
    },

    removeRun: (run: Buffer) => session.write(REMOVE_RUN, [PART, run]),

    /** @throws {RangeError} another version wrote the entries */
    async *segment(run: Buffer, segment: number): AsyncGenerator<JournalEntry, void> {
      for await (const rows of session.pages(SELECT, [run, int32(segment)]))
        for (const row of rows) yield* readEntries(row['messages']);
    },

    removeSegment: (run: Buffer, segment: number) => session.write(REMOVE, [run, int32(segment)]),
  };
}

export type JournalStore = ReturnType<typeof createJournalStore>;

/** Messages of all devices share a row until it is sent. */
class JournalRows {
  #rows;
  #number = 0;

  constructor(deps: { session: Pick<Session, 'writeMerged'>; retry: Pick<Retry, 'wait' | 'noteAnswer'> }) {
    this.#rows = new PendingRows(deps);
  }

  /** @param partition of `segmentOf` @returns `done` of the row settles when the entry is committed */
  append(partition: Partition, entry: JournalEntry): PendingRow {
    const { open } = partition;
    if (open?.join(entry)) return open;
    return this.#rows.open(new PendingEntries(partition, ++this.#number, entry));
  }
}

export const segmentOf = (run: Buffer, segment: number) => new Partition(run, int32(segment));

class PendingEntries extends PendingRow<JournalEntry> {
  #number;
  #writer = new EntriesWriter();

  constructor(partition: Partition, number: number, entry: JournalEntry) {
    const size = entryBytes(entry.series);
    super('write_journal', partition, ROW_WEIGHT + 1 + size);
    this.#number = number;
    this.#writer.add(entry, size);
  }

  override join(entry: JournalEntry): boolean {
    const size = entryBytes(entry.series);
    if (this.#writer.length + size > MAX_ENTRIES_BYTES) return false;
    this.#writer.add(entry, size);
    this.messages++;
    this.grow(size);
    return true;
  }

  override toQueries() {
    const [run, segment] = this.partition.key;
    return [{ query: INSERT, params: [run, segment, int32(this.#number), this.#writer.end()] }];
  }
}
