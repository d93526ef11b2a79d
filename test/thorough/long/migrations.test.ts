import { expect, test } from '@jest/globals';
import { connect } from '../../../api/store/connect.ts';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { createFirst } from '../../../schema/migrate/cluster.ts';
import { readMigrations } from '../../../schema/migrate/files.ts';
import { withSchemaLock } from '../../../schema/migrate/lock.ts';
import { configOf, useMigrations } from '../../support/database/migrations.ts';
import { until } from '../../support/until.ts';

const migrations = useMigrations();

const newest = async () => (await readMigrations()).length;

test('Migration: new keyspace: tables have their TTL, compaction window and gc_grace_seconds; a second run changes no table', async () => {
  const settings = migrations.fresh({ BATCH_DAYS: '45', HISTORY_DAYS: '365' });
  const version = await newest();
  expect(await migrateDatabase(configOf(settings))).toEqual({ from: 0, to: version });
  const tables = await migrations.tablesOf(settings.CQL_KEYSPACE);
  expect(tables['message']).toEqual({
    ttl: 45 * 86_400,
    grace: 86_400,
    strategy: 'TimeWindowCompactionStrategy',
    window: '2 DAYS',
  });
  expect(tables['dead_letter']).toEqual({
    ttl: 14 * 86_400,
    grace: 86_400,
    strategy: 'TimeWindowCompactionStrategy',
    window: '1 DAYS',
  });
  // A user may delete an annotation. A replica that was away has ten days to receive the tombstone.
  expect(tables['annotation']).toMatchObject({ ttl: 365 * 86_400, grace: 864_000, window: '13 DAYS' });
  expect(tables['latest']).toMatchObject({ ttl: 0, strategy: 'LeveledCompactionStrategy' });

  expect(await migrateDatabase(configOf(settings))).toEqual({ from: version, to: version });
  expect(await migrations.tablesOf(settings.CQL_KEYSPACE)).toEqual(tables);
});

test.each([2, 5])('Migration: %i processes at once: one process migrates, the others wait', async (count) => {
  const settings = migrations.fresh();
  const ended = await Promise.all(
    Array.from({ length: count }, () => migrations.run('api/commands/migrate.ts', settings)),
  );
  for (const command of ended) expect(command).toEqual({ ...command, code: 0 });
  expect(ended.map(({ output }) => output).join()).toContain('one copy of everything');
  const worked = ended.filter(({ output }) => output.includes('from version 0'));
  expect(worked).toHaveLength(1);
  const version = await newest();
  expect(await migrations.versionsOf(settings.CQL_KEYSPACE)).toEqual(
    Array.from({ length: version }, (_, i) => i + 1),
  );
});

test('Migration: another process creates the keyspace: the migration waits for the keyspace, then creates the first table', async () => {
  const { cql } = configOf(migrations.fresh());
  const first = 'CREATE TABLE IF NOT EXISTS first (id int PRIMARY KEY)';
  const created = createFirst(migrations.admin(), cql.keyspace, [first]);
  await migrations.execute(
    `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
  );
  await created;
  expect(Object.keys(await migrations.tablesOf(cql.keyspace))).toEqual(['first']);
});

test('Migration: an earlier run ended between two tables: the next run creates the missing tables', async () => {
  const settings = migrations.fresh();
  await migrateDatabase(configOf(settings));
  const whole = await migrations.tablesOf(settings.CQL_KEYSPACE);
  // A process that ended during the second migration leaves some of its tables, and no version row.
  for (const statement of [
    `DROP TABLE ${settings.CQL_KEYSPACE}.sensor_by_name`,
    `DROP TABLE ${settings.CQL_KEYSPACE}.message`,
    `DROP TABLE ${settings.CQL_KEYSPACE}.dead_letter`,
    `DELETE FROM ${settings.CQL_KEYSPACE}.schema_version WHERE part = 'millrace' AND version > 1`,
  ]) {
    await migrations.execute(statement);
  }
  const { code } = await migrations.run('api/commands/migrate.ts', settings);
  expect(code).toBe(0);
  expect(await migrations.tablesOf(settings.CQL_KEYSPACE)).toEqual(whole);
});

test.each([
  ['a change of HISTORY_DAYS was interrupted, and the setting has its old value again', []],
  [
    'the first migration was interrupted, and HISTORY_DAYS has changed',
    [
      "DELETE FROM schema_version WHERE part = 'millrace' AND version > 7",
      "DELETE latest_groups, batch_days, history_days FROM installation WHERE part = 'millrace' IF EXISTS",
    ],
  ],
])('Migration: %s: each table gets the TTL of the setting', async (_, statements) => {
  const settings = migrations.fresh({ HISTORY_DAYS: '365' });
  const { CQL_KEYSPACE: keyspace } = settings;
  await migrateDatabase(configOf(settings));
  const whole = await migrations.tablesOf(keyspace);
  for (const statement of [
    'ALTER TABLE history WITH default_time_to_live = 2592000',
    'ALTER TABLE alarm WITH default_time_to_live = 2592000',
    ...statements,
  ]) {
    await migrations.execute(statement.replace(/(TABLE|FROM) /, `$1 ${keyspace}.`));
  }
  await migrateDatabase(configOf(settings));
  expect(await migrations.tablesOf(keyspace)).toEqual(whole);
});

test('Migration: devices were registered before the index device_by_site existed: the migration adds the devices to the index', async () => {
  const settings = migrations.fresh();
  const { CQL_KEYSPACE: keyspace } = settings;
  await migrateDatabase(configOf(settings));
  const id = '10000000-0000-4000-8000-000000000001';
  for (const statement of [
    `INSERT INTO ${keyspace}.device (grp, device_id, site) VALUES (3, ${id}, 'Oslo') USING TIMESTAMP 7`,
    `INSERT INTO ${keyspace}.device (grp, device_id, name) VALUES (4, ${id}, 'nowhere')`,
    `DELETE FROM ${keyspace}.schema_version WHERE part = 'millrace' AND version >= 8`,
  ]) {
    await migrations.execute(statement);
  }
  await migrateDatabase(configOf(settings));
  const { rows } = await migrations.execute(
    `SELECT site, grp, device_id, WRITETIME(written_at) AS stamp FROM ${keyspace}.device_by_site`,
  );
  expect(rows.map(({ site, grp, stamp }) => [site, grp, Number(stamp)])).toEqual([['Oslo', 3, 7]]);
});

test('Migration: a dead process holds the schema lock: the migration names the process, and waits until the lock is gone', async () => {
  const settings = migrations.fresh();
  await migrateDatabase(configOf(settings));
  await migrations.execute(
    `UPDATE ${settings.CQL_KEYSPACE}.installation USING TTL 600 SET lock_owner = 'dead:1' WHERE part = 'millrace' IF lock_owner = null`,
  );
  const command = migrations.start('api/commands/migrate.ts', settings);
  const message = 'another process changes the schema (dead:1); waiting';
  await until(() => command.output().includes(message) || !command.running());
  expect(command.running()).toBe(true);
  // The time to live of the lock has the same effect.
  await migrations.execute(
    `UPDATE ${settings.CQL_KEYSPACE}.installation SET lock_owner = null WHERE part = 'millrace' IF lock_owner = 'dead:1'`,
  );
  const { code, output } = await command.ended;
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining(message) });
});

test('Migration: another process took over the schema lock: the migration stops, and the lock keeps its new owner', async () => {
  const config = configOf(migrations.fresh());
  const { cql } = config;
  await migrateDatabase(config);
  const client = await connect(cql, { keyspace: cql.keyspace });
  migrations.afterwards(() => client.shutdown());
  const takeOver = `UPDATE ${cql.keyspace}.installation SET lock_owner = 'another' WHERE part = 'millrace' IF EXISTS`;
  const work = async (keep: () => Promise<void>) => {
    await keep();
    await migrations.execute(takeOver);
    await keep();
  };
  await expect(withSchemaLock(client, work, () => {})).rejects.toMatchObject({ code: 'unavailable' });
  const owners = `SELECT lock_owner FROM ${cql.keyspace}.installation`;
  const { rows } = await migrations.execute(owners);
  expect(rows.map(({ lock_owner: owner }) => owner)).toEqual(['another']);
});

test('Migration: keyspace of Millrace 0.1: exit code 73, and no table changes', async () => {
  const settings = migrations.fresh();
  await migrateDatabase(configOf(settings));
  await migrations.execute(
    `UPDATE ${settings.CQL_KEYSPACE}.schema_version SET name = '003-measurements.cql' WHERE part = 'millrace' AND version = 3`,
  );
  const before = await migrations.tablesOf(settings.CQL_KEYSPACE);
  for (const script of ['api/commands/migrate.ts', 'api/index.ts'] as const) {
    const { code, output } = await migrations.run(script, settings);
    expect(output).toContain('Millrace 0.1 made the keyspace');
    expect(code).toBe(73);
  }
  expect(await migrations.tablesOf(settings.CQL_KEYSPACE)).toEqual(before);
});
