import { MillraceError } from '../../../common/errors.ts';
import type { Config } from '../../../common/settings/config.ts';
import { migrate } from '../../../schema/migrate/migrate.ts';
import { connect } from '../connect.ts';
import { translate } from '../sending/session.ts';
import { missingPermission } from './permissions.ts';

const MIGRATION = { applicationName: 'millrace-migrate', retryBusyServer: true, awaitsAgreement: false };

/**
 * @returns versions of the schema before and after
 * @throws `database_away`, `bad_settings`, `schema_differs`, `unavailable`
 */
export async function migrateDatabase(
  { cql, retention }: Config,
  onStatus?: (line: string) => void,
): Promise<{ from: number; to: number }> {
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

/** A rejected statement is a defect of the migration, so the driver's error stays unchanged. */
function unlessRejected(error: unknown) {
  const translated = translate(error, 'migrate');
  return translated instanceof MillraceError && translated.code === 'unavailable' ? translated : error;
}
