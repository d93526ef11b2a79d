import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { connectStore } from '../../../api/store/index.ts';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { configOf, useMigrations } from '../../support/database/migrations.ts';

const migrations = useMigrations();

test.each([
  ['LATEST_GROUPS', '8'],
  ['BATCH_DAYS', '40'],
  ['HISTORY_DAYS', '400'],
])('Start: %s differs from the database: exit code 73, and the error names it', async (name, value) => {
  const settings = migrations.fresh();
  await migrateDatabase(configOf(settings));
  const { code, output } = await migrations.run('api/index.ts', { ...settings, [name]: value });
  expect(code).toBe(73);
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toContain(`${name} is ${value} here and `);
});

test('npm run migrate: settings differ from the database: changes the retention of the tables, and never the number of groups', async () => {
  const settings = migrations.fresh();
  await migrateDatabase(configOf(settings));
  const changed = { ...settings, BATCH_DAYS: '90', HISTORY_DAYS: '400' };
  const { code, output } = await migrations.run('api/commands/migrate.ts', changed);
  expect({ code, output }).toMatchObject({ code: 0 });
  const tables = await migrations.tablesOf(settings.CQL_KEYSPACE);
  expect(tables['message']).toMatchObject({ ttl: 90 * 86_400, window: '3 DAYS' });
  for (const table of [
    'history',
    'history_stat',
    'sparkplug_birth',
    'device_event',
    'annotation',
    'alarm',
    'watched_time',
  ]) {
    expect(tables[table]).toMatchObject({ ttl: 400 * 86_400, window: '14 DAYS' });
  }
  const store = await connectStore({
    ...configOf(changed),
    observe: () => {},
    onStaleIndex: () => {},
  });
  await store.close();

  const regrouped = await migrations.run('api/commands/migrate.ts', { ...changed, LATEST_GROUPS: '8' });
  expect(regrouped.code).toBe(73);
  expect(regrouped.output).toContain('LATEST_GROUPS is 16 for ever');
});

test('Start: keyspace does not exist: exit code 73, and the error names npm run migrate', async () => {
  const { code, output } = await migrations.run('api/index.ts', migrations.fresh());
  expect(code).toBe(73);
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toContain('npm run migrate');
});

test('Start: keyspace without tables, with an older or a newer schema: exit code 73, and the error names the action', async () => {
  const settings = migrations.fresh();
  const { CQL_KEYSPACE: keyspace } = settings;
  await migrations.execute(
    `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
  );
  const empty = await migrations.run('api/index.ts', settings);
  expect(empty).toMatchObject({ code: 73, output: expect.stringContaining('has version 0') });
  expect(empty.output).toContain('npm run migrate');

  const { to: version } = await migrateDatabase(configOf(settings));
  await migrations.execute(
    `DELETE FROM ${keyspace}.schema_version WHERE part = 'millrace' AND version = ${version}`,
  );
  const old = await migrations.run('api/index.ts', settings);
  expect(old).toMatchObject({ code: 73, output: expect.stringContaining('npm run migrate') });

  await migrations.execute(
    `INSERT INTO ${keyspace}.schema_version (part, version) VALUES ('millrace', ${version + 1})`,
  );
  const ahead = await migrations.run('api/index.ts', settings);
  expect(ahead).toMatchObject({ code: 73, output: expect.stringContaining('update the program') });
});

test.each(['api/index.ts', 'api/commands/migrate.ts'] as const)(
  'Start of %s: wrong data center or closed port: the output is one line that names the setting',
  async (script) => {
    const settings = migrations.fresh();
    const wrongDc = await migrations.run(script, { ...settings, CQL_LOCAL_DC: 'elsewhere' });
    expect(wrongDc.output).toMatch(/^CQL_LOCAL_DC=elsewhere is not right: .*datacenter1.*\n$/);
    expect(wrongDc.code).toBe(78);

    const closedPort = `127.0.0.1:${await steadyPort()}`;
    const wrongPort = await migrations.run(script, { ...settings, CQL_CONTACT_POINTS: closedPort });
    expect(wrongPort.output).toMatch(
      /^No database answers at .* \(CQL_CONTACT_POINTS\): .*ECONNREFUSED.*\n$/,
    );
    expect(wrongPort.code).toBe(69);

    const CQL_LOCAL_PORT = String(await steadyPort());
    const noEngine = await migrations.run(script, { ...settings, CQL_CONTACT_POINTS: '', CQL_LOCAL_PORT });
    expect(noEngine.output).toMatch(/^No database answers at .* \(CQL_LOCAL_PORT\): .*ECONNREFUSED.*\n$/);
    expect(noEngine.code).toBe(69);
  },
);

test('Cassandra session: connect() fails: no handle stays open, so the process ends by itself', async () => {
  const script = `
      import { connect } from './api/store/connect.ts';
      import { readSettings } from './common/settings/index.ts';
      const { cql } = readSettings(process.env, { envFile: '' });
      await connect(cql).catch((error) => console.log(error.code));`;
  const outcomes = [];
  const wrong: Record<string, string>[] = [
    { CQL_LOCAL_DC: 'elsewhere' },
    { CQL_CONTACT_POINTS: `127.0.0.1:${await steadyPort()}` },
  ];
  for (const more of wrong) {
    const env = { ...migrations.fresh(more), PATH: process.env['PATH'] };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { env, timeout: 30_000 },
    );
    outcomes.push(stdout.trim());
  }
  expect(outcomes).toEqual(['bad_settings', 'database_away']);
});
