import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { PART } from '../../schema/migrate/installation.ts';
import { connect } from './connect.ts';
import { int64 } from './cql-values.ts';
import { createSession, type Session } from './sending/session.ts';

/** In seconds. A process without a newer heartbeat then disappears from the list of processes. */
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

export interface ProcessRow {
  clientId: string;
  role: string;
  version: string;
  /** epoch ms */
  startedAt: number;
  /** epoch ms, by the clock of the process */
  seenAt: number;
  stats: string;
}

export function createProcessStore(session: Session) {
  return {
    write: ({ clientId, role, version, startedAt, seenAt, stats }: ProcessRow) =>
      session.write(WRITE, [PART, clientId, role, version, int64(startedAt), int64(seenAt), stats]),

    remove: (clientId: string) => session.write(REMOVE, [PART, clientId]),

    async all(): Promise<ProcessRow[]> {
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

export type ProcessStore = ReturnType<typeof createProcessStore>;

/**
 * For a command of the command line. If the keyspace or the table does not exist, the result is empty, because no process runs.
 * @throws `database_away`, `bad_settings`, `unavailable`
 */
export async function readProcesses(cql: Config['cql']): Promise<ProcessRow[]> {
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

const unless =
  (code: string): ((error: unknown) => null) =>
  (error) => {
    if (error instanceof MillraceError && error.code === code) return null;
    throw error;
  };
