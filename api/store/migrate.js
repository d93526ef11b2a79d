import { MillraceError } from '../../common/errors.js';
import { migrate } from '../../schema/migrate/migrate.js';
import { connect } from './connect.js';
import { missingRight } from './roles.js';
import { translate } from './session.js';

/** @import { Config } from '../../common/settings/config.js' */

/** Who changes the schema, and has time. */
const MIGRATION = { applicationName: 'millrace-migrate', patient: true };

/**
 * @param {Config} config
 * @param {(line: string) => void} [onStatus]
 * @returns {Promise<{ from: number, to: number }>} versions before and after
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`, `unavailable`
 */
export async function migrateDatabase({ cql, retention }, onStatus) {
  const admin = await connect(cql, MIGRATION);
  try {
    return await migrate({
      admin,
      open: () => connect(cql, { ...MIGRATION, keyspace: cql.keyspace }),
      keyspace: cql.keyspace,
      retention,
      onStatus,
    });
  } catch (error) {
    throw missingRight(error, cql.username) ?? unlessRefused(error);
  } finally {
    await admin.shutdown();
  }
}

/** What the servers refuse is a defect of a statement of ours, and is thrown whole. @param {unknown} error */
function unlessRefused(error) {
  const told = translate(error, 'migrate');
  return told instanceof MillraceError && told.code === 'unavailable' ? told : error;
}
