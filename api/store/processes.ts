import { MillraceError } from '../../common/errors.js';
import { PART } from '../../schema/migrate/installation.js';
import { connect } from './connect.js';
import { int64 } from './cql-encoding.js';
import { createSession } from './sending/session.js';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { Session } from './sending/session.js' */

/** TTL of a heartbeat, in s. A process without a newer heartbeat then disappears from the list of processes. */
const TTL_S = 3600;

const WRITE = {
  name: 'write_process',
  cql: `INSERT INTO process (part, client_id, role, version, started_at, seen_at, stats) VALUES (?, ?, ?, ?, ?, ?, ?) USING TTL ${TTL_S}`,
};
const REMOVE = { name: 'remove_process', cql: 'DELETE FROM process WHERE part = ? AND client_id = ?' };
const SELECT = {
  name: 'read_processes',
  cql: 'SELECT client_id, role, version, started_at, seen_at, stats FROM process WHERE part = ?',
};

/**
 * The heartbeat of a process.
 *
 * @typedef {object} ProcessRow
 * @property {string} clientId
 * @property {string} role
 * @property {string} version
 * @property {number} startedAt epoch ms
 * @property {number} seenAt epoch ms, by the clock of the process
 * @property {string} stats process stats as JSON
 */

/** @param {Session} session */
export function createProcessStore(session) {
  return {
    /** @param {ProcessRow} row */
    write: ({ clientId, role, version, startedAt, seenAt, stats }) =>
      session.write(WRITE, [PART, clientId, role, version, int64(startedAt), int64(seenAt), stats]),

    /** @param {string} clientId */
    remove: (clientId) => session.write(REMOVE, [PART, clientId]),

    /** @returns {Promise<ProcessRow[]>} heartbeats, ordered by client id */
    async all() {
      const rows = await session.all(SELECT, [PART]);
      return rows.map((row) => ({
        clientId: row['client_id'],
        role: row['role'],
        version: row['version'],
        startedAt: row['started_at'].getTime(),
        seenAt: row['seen_at'].getTime(),
        stats: row['stats'],
      }));
    },
  };
}

/** @typedef {ReturnType<typeof createProcessStore>} ProcessStore */

/**
 * Reads the heartbeats of an installation for a command of the command line. If the keyspace or the table does not
 * exist, the result is empty, because no process runs.
 *
 * @param {Config['cql']} cql
 * @returns {Promise<ProcessRow[]>}
 * @throws {MillraceError} `database_away`, `bad_settings`, `unavailable`
 */
export async function readProcesses(cql) {
  const client = await connect(cql, { keyspace: cql.keyspace }).catch(unless('schema_differs'));
  if (!client) return [];
  try {
    const rows = await createProcessStore(createSession(client, () => {}))
      .all()
      .catch(unless('rejected'));
    return rows ?? [];
  } finally {
    await client.shutdown();
  }
}

/** @param {string} code @returns {(error: unknown) => null} */
const unless = (code) => (error) => {
  if (error instanceof MillraceError && error.code === code) return null;
  throw error;
};
