import { MillraceError } from '../../../common/errors.js';
import { migrate } from '../../../schema/migrate/migrate.js';
import { connect } from '../connect.js';
import { translate } from '../sending/session.js';
import { missingPermission } from './roles.js';

export { makeRoles } from './roles.js';

/** @import { Config } from '../../../common/settings/config.js' */

const MIGRATION = { applicationName: 'millrace-migrate', retryBusyServer: true, awaitsAgreement: false };

/**
 * Migrates the schema of the database to the version of this program.
 *
 * @param {Config} config
 * @param {(line: string) => void} [onStatus]
 * @returns {Promise<{ from: number, to: number }>} versions of the schema before and after the migration
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
    throw missingPermission(error, cql.username) ?? unlessRejected(error);
  } finally {
    await admin.shutdown();
  }
}

/** Translates an error. A rejected statement is a defect of the migration, so the driver's error stays unchanged. @param {unknown} error */
function unlessRejected(error) {
  const translated = translate(error, 'migrate');
  return translated instanceof MillraceError && translated.code === 'unavailable' ? translated : error;
}
