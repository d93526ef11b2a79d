import { PART } from '../../schema/migrate/installation.ts';
import { dayOf, monthOf, nextMonthOf } from '../../schema/rules.ts';
import { int64 } from './cql-values.ts';
import type { Session } from './sending/session.ts';

const WRITE = {
  name: 'write_watched_time',
  cql: 'INSERT INTO watched_time (month, watched_from, client_id, watched_until) VALUES (?, ?, ?, ?)',
};
const PAGE = {
  name: 'watched_time_page',
  cql: 'SELECT watched_from, watched_until FROM watched_time WHERE month = ? AND watched_from >= ? AND watched_from < ?',
  fetchSize: 5000,
};
const FIRST = {
  name: 'read_first_watched_time',
  cql: 'SELECT watched_from FROM watched_time WHERE month = ? LIMIT 1',
};
const SELECT_START = {
  name: 'read_watched_time_start',
  cql: 'SELECT applied_at FROM schema_version WHERE part = ? AND version = 24',
};

/** Without a break, a process could receive and commit messages. Epoch ms, within one UTC day */
export type WatchedSpan = { from: number; until: number };

/** A span lies within a UTC day. So its start determines its partition and its compaction window. */
export function createWatchedTimeStore(session: Session) {
  return {
    /** Replaces a shorter span that begins at the same instant. */
    write: (clientId: string, { from, until }: WatchedSpan) =>
      session.write(WRITE, [int64(monthOf(from)), int64(from), clientId, int64(until)]),

    /** Reads the spans of all processes that overlap [from, to), oldest first. Some spans that end before `from` are returned too. */
    async *pages({ from, to }: { from: number; to: number }): AsyncGenerator<WatchedSpan[], void> {
      // A span ends on the day on which it began, so earlier days are not read.
      const first = dayOf(from);
      for (let month = monthOf(first); month < to; month = nextMonthOf(month)) {
        for await (const rows of session.pages(PAGE, [int64(month), int64(first), int64(to)])) {
          yield rows.map((row) => ({
            from: row['watched_from'].getTime(),
            until: row['watched_until'].getTime(),
          }));
        }
      }
    },

    /** No span is older than the migration that added the table. @param range of whole months @returns null: there is no span */
    async first({ from, to }: { from: number; to: number }): Promise<number | null> {
      const start = await session.one(SELECT_START, [PART]);
      const earliest = Math.max(from, start?.['applied_at'].getTime() ?? 0);
      for (let month = monthOf(earliest); month < to; month = nextMonthOf(month)) {
        const row = await session.one(FIRST, [int64(month)]);
        if (row) return row['watched_from'].getTime();
      }
      return null;
    },
  };
}

export type WatchedTimeStore = ReturnType<typeof createWatchedTimeStore>;
