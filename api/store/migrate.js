import { migrate } from '../../schema/migrate/migrate.js';
import { createClient } from './client.js';
import { connect } from './connect.js';

/**
 * @param {import('../../common/settings.js').Config} config
 * @param {(line: string) => void} [onStatus]
 * @returns {Promise<{ from: number, to: number }>} versions before and after
 * @throws {import('../../common/errors.js').MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export async function migrateDatabase({ cql, retention }, onStatus) {
  const admin = await connect(cql);
  try {
    return await migrate({
      admin,
      open: (keyspace) => createClient(cql, { keyspace }),
      keyspace: cql.keyspace,
      retention,
      onStatus,
    });
  } finally {
    await admin.shutdown();
  }
}
