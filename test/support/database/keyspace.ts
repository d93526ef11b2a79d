import { createHash } from 'node:crypto';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'cassandra-driver';
import { connect } from '../../../api/store/connect.ts';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { namesOf, PART } from '../../../schema/migrate/installation.ts';
import { CONTACT_POINT, uniqueName } from './engine.ts';

/** The environment variable with the folder of used keyspaces, which the global set-up sets for the test files. */
export const KEYSPACES = 'TEST_KEYSPACES';

/**
 * On a busy machine a change of the schema takes longer than the usual 5 s of a request. The columns of a keyspace are more rows
 * than the usual page.
 */
const OPTIONS = { prepare: false, readTimeout: 60_000, fetchSize: 10_000 };

const claimed: Map<string, ClaimedKeyspace> = new Map();

/** The system tables that describe a keyspace. */
const DESCRIPTIONS = ['keyspaces', 'tables', 'columns', 'dropped_columns', 'indexes', 'views'];

/** @param cql whose keyspace is dropped, if it exists */
export const dropKeyspace = (cql: Config['cql']) =>
  withAdmin(cql, (admin) => admin.execute(`DROP KEYSPACE IF EXISTS ${cql.keyspace}`, [], OPTIONS));

/**
 * A keyspace that belongs to this test file until its last user leaves it. Then it is emptied for the next test file: 0.1 s of
 * CPU for the server. To create and drop a keyspace of 40 tables takes 2 to 4 s of CPU.
 */
class ClaimedKeyspace {
  declare name: string;

  #users = 0;
  #released = false;
  #give: () => Promise<unknown>;

  /** @param give leaves it to other test files, or drops it */
  constructor(name: string, give: () => Promise<unknown>) {
    this.name = name;
    this.#give = give;
    claimed.set(name, this);
  }

  /** @returns `release` leaves the keyspace, and gives it away after the last user */
  use(): { leave: () => void; release: () => Promise<void> } {
    if (this.#released) throw new Error(`The last user of ${this.name} has released it.`);
    this.#users++;
    let uses = true;
    const leave = () => {
      if (uses) this.#users--;
      uses = false;
    };
    const release = async () => {
      leave();
      if (this.#users > 0 || this.#released) return;
      this.#released = true;
      await this.#give();
    };
    return { leave, release };
  }
}

export type Use = ReturnType<ClaimedKeyspace['use']>;

/**
 * Uses the keyspace that the settings name, with others of this test file or alone, and migrates it. Without a name it is an
 * empty one of the shared database.
 * @param settings as in the environment
 * @param clock of the test, epoch ms: the time of the first migration
 */
export async function useKeyspace(
  settings: Record<string, string>,
  clock?: () => number,
): Promise<{ config: Config; use: Use }> {
  const named = settings['CQL_KEYSPACE'];
  const configOf = (name: string) => readSettings({ ...settings, CQL_KEYSPACE: name }, { envFile: '' });
  const isShared = settings['CQL_CONTACT_POINTS'] === process.env[CONTACT_POINT];
  if (named === undefined && isShared) return claim(configOf, clock);
  const config = configOf(named ?? uniqueName('t'));
  const { cql } = config;
  const keyspace = claimed.get(cql.keyspace) ?? new ClaimedKeyspace(cql.keyspace, () => dropKeyspace(cql));
  const use = keyspace.use();
  const { from } = await migrateDatabase(config);
  if (clock && from === 0) await withAdmin(cql, (admin) => setInstalled(admin, cql.keyspace, clock()));
  return { config, use };
}

/**
 * Takes a keyspace that another test file has used, or creates one. The folder has a file for each used keyspace. Its name consists
 * of the settings that the tables depend on, the name of the keyspace, and a digest of its schema.
 */
async function claim(
  configOf: (keyspace: string) => Config,
  clock: () => number = Date.now,
): Promise<{ config: Config; use: Use }> {
  const folder = process.env[KEYSPACES];
  const fresh = configOf(uniqueName('t'));
  const { batchDays, historyDays } = fresh.retention;
  const kind = `${batchDays}-${historyDays}`;
  for (const file of folder ? await readdir(folder) : []) {
    const [of, keyspace = '', schema, state] = file.split('.');
    if (!folder || of !== kind || state || !(await takes(join(folder, file)))) continue;
    const config = configOf(keyspace);
    const isEmpty = await withAdmin(config.cql, async (admin) => {
      if ((await schemaOf(admin, keyspace)) !== schema) return false;
      await empty(admin, config, clock());
      return true;
    });
    if (isEmpty) {
      const use = new ClaimedKeyspace(keyspace, () => writeFile(join(folder, file), '')).use();
      return { config, use };
    }
    await dropKeyspace(config.cql);
  }
  const { cql } = fresh;
  const schema = await withAdmin(cql, async (admin) => {
    // A commit log helps only after a kill, and makes each change slower.
    await admin.execute(
      `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1} AND durable_writes = false`,
      [],
      OPTIONS,
    );
    await migrateDatabase(fresh);
    await setInstalled(admin, cql.keyspace, clock());
    return schemaOf(admin, cql.keyspace);
  });
  const note = folder && join(folder, `${kind}.${cql.keyspace}.${schema}`);
  const give = () => (note ? writeFile(note, '') : dropKeyspace(cql));
  return { config: fresh, use: new ClaimedKeyspace(cql.keyspace, give).use() };
}

/**
 * Sets the time of the first migration, because packing begins shortly before it.
 * @param installed epoch ms
 */
const setInstalled = (admin: Client, keyspace: string, installed: number) =>
  admin.execute(
    `UPDATE ${keyspace}.schema_version SET applied_at = ? WHERE part = ? AND version = 1`,
    [new Date(installed), PART],
    { prepare: true },
  );

async function withAdmin<T>(cql: Config['cql'], use: (admin: Client) => Promise<T>) {
  const admin = await connect(cql, { applicationName: 'test' });
  try {
    return await use(admin);
  } finally {
    await admin.shutdown();
  }
}

/** Another worker may have taken the file. A file can be renamed once. */
const takes = (file: string) =>
  rename(file, `${file}.taken`).then(
    () => true,
    () => false,
  );

/**
 * Restores the keyspace to the state after the migrations. All tables are truncated, even empty ones: a deletion hides later
 * writes of an earlier event time.
 * @param installed epoch ms
 */
async function empty(admin: Client, { cql: { keyspace }, retention }: Config, installed: number) {
  const { rows } = await admin.execute(
    'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?',
    [keyspace],
    OPTIONS,
  );
  const tables = rows.map((row) => row['table_name']).filter((table) => table !== 'schema_version');
  await Promise.all(tables.map((table) => admin.execute(`TRUNCATE ${keyspace}.${table}`, [], OPTIONS)));
  const names = namesOf(retention);
  // A lightweight transaction, as all changes of this row: plain writes would be ordered by another clock.
  await admin.execute(
    `INSERT INTO ${keyspace}.installation (part, ${Object.keys(names).join(', ').toLowerCase()}) VALUES (?, ?, ?, ?) IF NOT EXISTS`,
    [PART, ...Object.values(names)],
    { prepare: true },
  );
  await setInstalled(admin, keyspace, installed);
}

/** @returns digest of its tables and migrations */
async function schemaOf(admin: Client, keyspace: string): Promise<string> {
  const hash = createHash('sha256');
  for (const table of DESCRIPTIONS) {
    const query = `SELECT * FROM system_schema.${table} WHERE keyspace_name = ?`;
    const { rows } = await admin.execute(query, [keyspace], OPTIONS);
    hash.update(JSON.stringify(rows));
  }
  const versions = `SELECT part, version, name FROM ${keyspace}.schema_version`;
  const { rows } = await admin.execute(versions, [], OPTIONS);
  return hash.update(JSON.stringify(rows)).digest('hex');
}
