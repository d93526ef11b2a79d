import { createHistoryReads } from './history/reads.js';
import { createSampleReads } from './measurements/reads.js';

/**
 * The reads of samples for those who read very many, once: exports, long series. Where the server has a cache of rows that
 * they would push the rows of others out of, they go past it.
 *
 * @param {import('./session.js').Session} session
 * @param {Pick<import('../../schema/migrate/files.js').Dialect, 'pastCache'>} dialect of the server
 */
export function createScans(session, { pastCache }) {
  /** @type {import('./session.js').Session} */
  const pastIt = {
    ...session,
    all: (statement, params, most) =>
      session.all({ ...statement, cql: `${statement.cql}${pastCache}` }, params, most),
  };
  return { samples: createSampleReads(pastIt), packed: createHistoryReads(pastIt) };
}

/** @typedef {ReturnType<typeof createScans>} Scans */
