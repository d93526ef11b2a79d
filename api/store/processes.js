import { PART } from '../../schema/migrate/installation.js';
import { int64 } from './cells.js';

/** A process that is not heard of for this long is forgotten, in s. */
const TTL_S = 3600;

const WRITE = {
  name: 'write_process',
  cql: `INSERT INTO process (part, client_id, role, version, started_at, seen_at, vitals) VALUES (?, ?, ?, ?, ?, ?, ?) USING TTL ${TTL_S}`,
};
const REMOVE = { name: 'remove_process', cql: 'DELETE FROM process WHERE part = ? AND client_id = ?' };
const SELECT = {
  name: 'read_processes',
  cql: 'SELECT client_id, role, version, started_at, seen_at, vitals FROM process WHERE part = ?',
};

/**
 * What a process says of itself.
 *
 * @typedef {object} ProcessRow
 * @property {string} clientId
 * @property {string} role
 * @property {string} version
 * @property {number} startedAt epoch ms
 * @property {number} seenAt epoch ms, by its own clock
 * @property {string} vitals JSON
 */

/** @param {import('./session.js').Session} session */
export function createProcessStore(session) {
  return {
    /** @param {ProcessRow} row */
    write: ({ clientId, role, version, startedAt, seenAt, vitals }) =>
      session.write(WRITE, [PART, clientId, role, version, int64(startedAt), int64(seenAt), vitals]),

    /** @param {string} clientId */
    remove: (clientId) => session.write(REMOVE, [PART, clientId]),

    /** @returns {Promise<ProcessRow[]>} by client id */
    async all() {
      const rows = await session.all(SELECT, [PART]);
      return rows.map((row) => ({
        clientId: row['client_id'],
        role: row['role'],
        version: row['version'],
        startedAt: row['started_at'].getTime(),
        seenAt: row['seen_at'].getTime(),
        vitals: row['vitals'],
      }));
    },
  };
}

/** @typedef {ReturnType<typeof createProcessStore>} ProcessStore */
