import type { Client } from 'cassandra-driver';
import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { readMigrations } from './files.ts';

/** Queries bind this partition key of `installation` and `schema_version`, because the driver finds replicas only by bound values. */
export const PART = 'millrace';

/** @throws `schema_differs`; the message names the difference and the command that corrects it */
export async function checkSchema(client: Client, retention: Config['retention']) {
  const wanted = (await readMigrations()).length;
  const version = await currentVersion(client).catch((error) => {
    // 0x2200 means "invalid": the table does not exist, so no migration has run.
    if (error?.code === 0x2200) return 0;
    throw error;
  });
  if (version !== wanted) {
    throw new MillraceError(
      'schema_differs',
      version < wanted
        ? `The schema has version ${version}, this program needs ${wanted}: run npm run migrate.`
        : `The schema has version ${version}, newer than this program's ${wanted}: update the program.`,
    );
  }
  const stored = await storedSettings(client);
  const differing = Object.entries(namesOf(retention))
    .filter(([name, value]) => stored[name] !== value)
    .map(([name, value]) => `${name} is ${value} here and ${stored[name]} in the database`);
  if (differing.length > 0) {
    throw new MillraceError(
      'schema_differs',
      `${differing.join('; ')}: set it as the database has it, or run npm run migrate to change BATCH_DAYS and HISTORY_DAYS.`,
    );
  }
}

export const namesOf = ({
  latestGroups,
  batchDays,
  historyDays,
}: Config['retention']): Record<string, number> => ({
  LATEST_GROUPS: latestGroups,
  BATCH_DAYS: batchDays,
  HISTORY_DAYS: historyDays,
});

export async function storedSettings(client: Client): Promise<Record<string, number | undefined>> {
  const row = (await client.execute('SELECT * FROM installation WHERE part = ?', [PART])).first();
  return {
    LATEST_GROUPS: row?.['latest_groups'] ?? undefined,
    BATCH_DAYS: row?.['batch_days'] ?? undefined,
    HISTORY_DAYS: row?.['history_days'] ?? undefined,
  };
}

/** 0 before the first migration. @throws `schema_differs`: another program migrated the keyspace */
export async function currentVersion(client: Client): Promise<number> {
  const { rows } = await client.execute('SELECT version, name FROM schema_version WHERE part = ?', [PART]);
  const names = new Map((await readMigrations()).map(({ version, name }) => [version, name]));
  for (const { version, name } of rows) {
    const ours = names.get(version);
    if (ours === undefined || ours === name) continue;
    throw new MillraceError(
      'schema_differs',
      `Step ${version} of this keyspace's schema is ${name}; this program's is ${ours}. Millrace 0.1 made the keyspace, and its rows cannot be read by this version. Use another CQL_KEYSPACE.`,
    );
  }
  return Math.max(0, ...rows.map((row) => row['version']));
}
