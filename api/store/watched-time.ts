import { PART } from '../../schema/migrate/installation.js';
import { dayOf, monthOf, nextMonthOf } from '../../schema/rules.js';
import { int64 } from './cql-encoding.js';

/** @import { Session } from './sending/session.js' */

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

/**
 * A period of watched time: without a break, a process could receive and commit messages.
 *
 * @typedef {{ from: number, until: number }} WatchedSpan epoch ms, within one UTC day
 */

/**
 * Creates the store of watched time. A span lies within a UTC day. So its start determines its partition and its
 * compaction window.
 *
 * @param {Session} session
 */
export function createWatchedTimeStore(session) {
  return {
    /**
     * Stores a span of a process. It replaces a shorter span that begins at the same instant.
     *
     * @param {string} clientId
     * @param {WatchedSpan} span
     */
    write: (clientId, { from, until }) =>
      session.write(WRITE, [int64(monthOf(from)), int64(from), clientId, int64(until)]),

    /**
     * Reads the spans of all processes that overlap [from, to), oldest first. Some spans that end before `from` are
     * returned too.
     *
     * @param {{ from: number, to: number }} range epoch ms
     * @returns {AsyncGenerator<WatchedSpan[], void>} pages of spans
     */
    async *pages({ from, to }) {
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

    /**
     * Finds the first span of the installation. No span is older than the migration that added the table.
     *
     * @param {{ from: number, to: number }} range epoch ms, of whole months
     * @returns {Promise<number | null>} epoch ms of the span's start; null: there is no span
     */
    async first({ from, to }) {
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

/** @typedef {ReturnType<typeof createWatchedTimeStore>} WatchedTimeStore */
