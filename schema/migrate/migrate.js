import { MillraceError } from '../../common/errors.js';
import { DEAD_LETTER_DAYS } from '../rules.js';
import { DIALECTS, readMigrations, statementsOf, windowOptions } from './files.js';
import { withSchemaLock } from './lock.js';

/** Tables whose retention `migrate` changes when its setting changes. */
const RETAINED = { BATCH_DAYS: ['measurement_batch'], HISTORY_DAYS: [] };

/** DDL is neither prepared nor repeated blindly. */
const DDL = { prepare: false, isIdempotent: false };

/**
 * Brings the keyspace to the newest schema; does nothing when it is there already. Safe when several processes call
 * it at once: one works, the others wait and find nothing left to do.
 *
 * @param {object} parts
 * @param {import('cassandra-driver').Client} parts.admin a connected client without a keyspace
 * @param {(keyspace: string) => import('cassandra-driver').Client} parts.open makes the client for the keyspace
 * @param {string} parts.keyspace
 * @param {import('../../common/settings.js').Config['retention']} parts.retention
 * @param {(text: string) => void} [parts.onStatus] a line for each step
 * @returns {Promise<{ from: number, to: number }>} versions before and after
 * @throws {MillraceError} `schema_differs` when a setting that is fixed differs
 */
export async function migrate({ admin, open, keyspace, retention, onStatus = () => {} }) {
  const dialect = await dialectOf(admin);
  await createKeyspace(admin, keyspace);
  const client = open(keyspace);
  try {
    await client.connect();
    const migrations = await readMigrations();
    const days = {
      BATCH_DAYS: retention.batchDays,
      HISTORY_DAYS: retention.historyDays,
      DEAD_LETTER_DAYS,
    };
    const [first] = migrations;
    if (first) await runStatements(client, statementsOf(first, days, dialect));
    return await withSchemaLock(
      client,
      async () => {
        const from = await currentVersion(client);
        for (const migration of migrations.slice(from)) {
          onStatus(`schema ${migration.name}`);
          await runStatements(client, statementsOf(migration, days, dialect));
          await client.execute(
            "INSERT INTO schema_version (part, version, name, applied_at) VALUES ('millrace', ?, ?, ?)",
            [migration.version, migration.name, new Date()],
          );
        }
        await settle(client, retention, dialect, onStatus);
        return { from, to: Math.max(from, migrations.length) };
      },
      onStatus,
    );
  } finally {
    await client.shutdown();
  }
}

/**
 * Stops a process whose schema or fixed settings are not those of the database.
 *
 * @param {import('cassandra-driver').Client} client connected to the keyspace
 * @param {import('../../common/settings.js').Config['retention']} retention
 * @throws {MillraceError} `schema_differs`, naming what differs and the command that mends it
 */
export async function checkSchema(client, retention) {
  const wanted = (await readMigrations()).length;
  const version = await currentVersion(client).catch((error) => {
    // "unconfigured table" or "does not exist": 0x2200, invalid.
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

/** @param {import('../../common/settings.js').Config['retention']} retention @returns {Record<string, number>} */
const namesOf = ({ latestGroups, batchDays, historyDays }) => ({
  LATEST_GROUPS: latestGroups,
  BATCH_DAYS: batchDays,
  HISTORY_DAYS: historyDays,
});

/** @param {import('cassandra-driver').Client} client @returns {Promise<Record<string, number | undefined>>} */
async function storedSettings(client) {
  const row = (await client.execute("SELECT * FROM installation WHERE part = 'millrace'")).first();
  return {
    LATEST_GROUPS: row?.['latest_groups'] ?? undefined,
    BATCH_DAYS: row?.['batch_days'] ?? undefined,
    HISTORY_DAYS: row?.['history_days'] ?? undefined,
  };
}

/** @param {import('cassandra-driver').Client} client @returns {Promise<number>} 0 before the first migration */
async function currentVersion(client) {
  const { rows } = await client.execute("SELECT version FROM schema_version WHERE part = 'millrace'");
  return Math.max(0, ...rows.map((row) => row['version']));
}

/**
 * Stores the settings that all processes share, and gives the tables a retention that has changed.
 *
 * @param {import('cassandra-driver').Client} client
 * @param {import('../../common/settings.js').Config['retention']} retention
 * @param {import('./files.js').Dialect} dialect
 * @param {(text: string) => void} onStatus
 */
async function settle(client, retention, dialect, onStatus) {
  const stored = await storedSettings(client);
  if (stored['LATEST_GROUPS'] !== undefined && stored['LATEST_GROUPS'] !== retention.latestGroups) {
    throw new MillraceError(
      'schema_differs',
      `LATEST_GROUPS is ${stored['LATEST_GROUPS']} for ever in this keyspace; set it so, or use another CQL_KEYSPACE.`,
    );
  }
  const wanted = namesOf(retention);
  for (const [setting, tables] of Object.entries(RETAINED)) {
    const days = wanted[setting];
    if (stored[setting] === undefined || stored[setting] === days || days === undefined) continue;
    for (const table of tables) {
      onStatus(`${table} keeps ${days} days`);
      await client.execute(`ALTER TABLE ${table} WITH ${windowOptions(days, dialect)}`, [], DDL);
    }
  }
  // The row is changed by lightweight transactions only: plain writes beside them are ordered by another clock.
  await client.execute(
    "UPDATE installation SET latest_groups = ?, batch_days = ?, history_days = ? WHERE part = 'millrace' IF EXISTS",
    [retention.latestGroups, retention.batchDays, retention.historyDays],
  );
}

/** @param {import('cassandra-driver').Client} client @param {string[]} statements */
async function runStatements(client, statements) {
  for (const statement of statements) await client.execute(statement, [], DDL);
}

/** @param {import('cassandra-driver').Client} client @returns {Promise<import('./files.js').Dialect>} */
async function dialectOf(client) {
  const { rows } = await client.execute(
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'scylla_local'",
    [],
    { prepare: false },
  );
  return rows.length > 0 ? DIALECTS.scylla : DIALECTS.cassandra;
}

/**
 * A new keyspace is replicated to three nodes, or to as many as there are; one that exists stays as its owner made it.
 *
 * @param {import('cassandra-driver').Client} client
 * @param {string} keyspace
 */
async function createKeyspace(client, keyspace) {
  const nodes = client.getState().getConnectedHosts().length;
  const peers = (await client.execute('SELECT peer FROM system.peers', [], { prepare: false })).rowLength;
  const replicas = Math.min(3, Math.max(nodes, peers + 1));
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': ${replicas}}`,
    [],
    DDL,
  );
}
