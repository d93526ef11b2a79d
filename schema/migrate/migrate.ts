import type { Client } from 'cassandra-driver';
import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { BASELINE_DAYS, DEAD_LETTER_DAYS, LATE_DAY_DAYS, STREAM_NOTE_DAYS } from '../rules.ts';
import { windowFor } from '../time-window.ts';
import { changeSchema, createFirst, createKeyspace, dialectOf } from './cluster.ts';
import { readMigrations, retentionOptions, statementsOf } from './files.ts';
import { currentVersion, namesOf, PART, storedSettings } from './installation.ts';
import { withSchemaLock } from './lock.ts';

/** By the setting whose change changes the retention of these tables. */
const RETAINED = {
  BATCH_DAYS: ['message', 'journal'],
  HISTORY_DAYS: [
    'history',
    'history_stat',
    'day_stat',
    'sparkplug_birth',
    'device_event',
    'annotation',
    'alarm',
    'alarm_by_day',
    'alarm_event',
    'watched_time',
  ],
};

/** Concurrent callers wait, and then find nothing to do. @throws `schema_differs` when LATEST_GROUPS has changed */
export async function migrate({
  admin,
  open,
  keyspace,
  retention,
  onStatus = () => {},
}: {
  admin: Client;
  open: () => Promise<Client>;
  keyspace: string;
  retention: Config['retention'];
  onStatus?: (text: string) => void;
}): Promise<{ from: number; to: number }> {
  const dialect = await dialectOf(admin);
  const migrations = await readMigrations();
  const days = {
    BATCH_DAYS: retention.batchDays,
    HISTORY_DAYS: retention.historyDays,
    DEAD_LETTER_DAYS,
    LATE_DAY_DAYS,
    BASELINE_DAYS,
    STREAM_NOTE_DAYS,
  };
  await createKeyspace(admin, keyspace, onStatus);
  const [first] = migrations;
  if (first) await createFirst(admin, keyspace, statementsOf(first, days, dialect));
  const client = await open();
  try {
    return await withSchemaLock(
      client,
      async (keep) => {
        const from = await currentVersion(client);
        for (const migration of migrations.slice(from)) {
          onStatus(`schema ${migration.name}`);
          await runStatements(client, statementsOf(migration, days, dialect), keep);
          await FILLS[migration.name]?.(client, retention.latestGroups);
          // The time comes from the clock of the database, so that all processes agree. Packing begins shortly before the time of the
          // first migration.
          await client.execute(
            'INSERT INTO schema_version (part, version, name, applied_at) VALUES (?, ?, ?, toTimestamp(now()))',
            [PART, migration.version, migration.name],
          );
        }
        await keep();
        await settle(client, retention, onStatus);
        return { from, to: Math.max(from, migrations.length) };
      },
      onStatus,
    );
  } finally {
    await client.shutdown();
  }
}

/** Stores the settings that all processes share, and gives each table the retention of its setting. */
async function settle(client: Client, retention: Config['retention'], onStatus: (text: string) => void) {
  const stored = await storedSettings(client);
  if (stored['LATEST_GROUPS'] !== undefined && stored['LATEST_GROUPS'] !== retention.latestGroups) {
    throw new MillraceError(
      'schema_differs',
      `LATEST_GROUPS is ${stored['LATEST_GROUPS']} for ever in this keyspace; set it so, or use another CQL_KEYSPACE.`,
    );
  }
  const wanted = namesOf(retention);
  const seconds = await timesToLive(client);
  for (const [setting, tables] of Object.entries(RETAINED)) {
    const days = wanted[setting];
    if (days === undefined) continue;
    for (const table of tables) {
      // The TTL of the table is compared, because the stored setting does not show that an earlier change stopped between two tables.
      if (seconds.get(table) === windowFor(days).ttlSeconds) continue;
      onStatus(`${table} keeps ${days} days`);
      await changeSchema(client, `ALTER TABLE ${table} WITH ${retentionOptions(days)}`);
    }
  }
  // Only lightweight transactions change this row, because the timestamps of plain writes come from another clock.
  await client.execute(
    'UPDATE installation SET latest_groups = ?, batch_days = ?, history_days = ? WHERE part = ? IF EXISTS',
    [retention.latestGroups, retention.batchDays, retention.historyDays, PART],
  );
}

async function timesToLive(client: Client): Promise<Map<string, number>> {
  const { rows } = await client.execute(
    'SELECT table_name, default_time_to_live FROM system_schema.tables WHERE keyspace_name = ?',
    [client.keyspace],
  );
  return new Map(rows.map((row) => [row['table_name'], row['default_time_to_live']]));
}

/** @param keep throws if this process has lost the schema lock */
async function runStatements(client: Client, statements: string[], keep: () => Promise<void>) {
  for (const statement of statements) {
    await keep();
    if (!(await columnExists(client, statement))) await changeSchema(client, statement);
  }
}

/** An earlier migration may have stopped halfway. ScyllaDB has no `ADD IF NOT EXISTS`. */
async function columnExists(client: Client, statement: string) {
  const [, table, column] = /^ALTER TABLE (\w+) ADD (\w+) /.exec(statement) ?? [];
  if (!table) return false;
  const { rows } = await client.execute(
    'SELECT type FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ? AND column_name = ?',
    [client.keyspace, table, column],
  );
  return rows.length > 0;
}

const PAGE = 1000;

/** By migration. Each computes new rows from existing rows, so a migration that stopped halfway can run again. */
const FILLS: Record<string, (client: Client, groups: number) => Promise<void>> = {
  '008-events.cql': fillDeviceSites,
};

/** For devices that registered before the index `device_by_site` existed. A row gets the write timestamp of the device's site. */
async function fillDeviceSites(client: Client, groups: number) {
  for (let group = 0; group < groups; group++) {
    const devices = await client.execute(
      'SELECT device_id, site, WRITETIME(site) AS stamp FROM device WHERE grp = ?',
      [group],
      { fetchSize: PAGE },
    );
    for await (const { device_id: id, site, stamp } of devices) {
      if (site === null) continue;
      await client.execute(
        'INSERT INTO device_by_site (site, grp, device_id, written_at) VALUES (?, ?, ?, ?) USING TIMESTAMP ?',
        [site, group, id, new Date(), stamp],
      );
    }
  }
}
