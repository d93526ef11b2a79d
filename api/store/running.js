import { MillraceError } from '../../common/errors.js';
import { connect } from './connect.js';
import { createProcessStore } from './processes.js';
import { createSession } from './session.js';

/**
 * The heartbeats of an installation, for a command that is none of its processes. Where there is no keyspace, or no table
 * of processes in it, none runs.
 *
 * @param {import('../../common/settings/index.js').Config['cql']} cql
 * @returns {Promise<import('./processes.js').ProcessRow[]>}
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
