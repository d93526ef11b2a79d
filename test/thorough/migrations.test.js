import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { connect } from '../../api/store/connect.js';
import { connectStore } from '../../api/store/index.js';
import { migrateDatabase } from '../../api/store/migrate.js';
import { readSettings } from '../../common/settings.js';
import { freePort } from '../../infra/engine/ports.js';
import { createFirst } from '../../schema/migrate/cluster.js';
import { readMigrations } from '../../schema/migrate/files.js';
import { withSchemaLock } from '../../schema/migrate/lock.js';
import { startCommand } from '../support/api-process.js';
import { useCleanUps } from '../support/clean-ups.js';
import { sharedContactPoint, startTestEngine, uniqueName } from '../support/engine.js';
import { dropKeyspace } from '../support/keyspace.js';
import { until } from '../support/until.js';

/** @type {import('cassandra-driver').Client} */
let admin;
const afterwards = useCleanUps();
beforeAll(async () => {
  const { cql } = readSettings({ CQL_CONTACT_POINTS: sharedContactPoint() }, { envFile: '' });
  admin = await connect(cql, { applicationName: 'test' });
});
afterAll(() => admin?.shutdown());

/** Settings with a keyspace of their own. @param {Record<string, string>} [more] */
function fresh(more) {
  const keyspace = uniqueName('t');
  const settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: keyspace,
    HTTP_PORT: '0',
    MQTT_PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const { cql } = configOf(settings);
  afterwards(() => dropKeyspace(cql));
  return { ...settings, ...more };
}

const configOf = (/** @type {Record<string, string>} */ settings) => readSettings(settings, { envFile: '' });

/** @param {'api/index.js' | 'api/migrate.js'} script @param {Record<string, string>} settings */
function run(script, settings) {
  const command = startCommand(script, settings);
  afterwards(() => command.kill());
  return command.ended;
}

/** @param {string} keyspace */
async function tablesOf(keyspace) {
  const { rows } = await admin.execute(
    'SELECT table_name, default_time_to_live AS ttl, gc_grace_seconds AS grace, compaction FROM system_schema.tables WHERE keyspace_name = ?',
    [keyspace],
    { prepare: false },
  );
  return Object.fromEntries(
    rows.map(({ table_name: name, ttl, grace, compaction }) => [
      name,
      {
        ttl,
        grace,
        strategy: compaction.class.split('.').at(-1),
        window: `${compaction.compaction_window_size} ${compaction.compaction_window_unit}`,
      },
    ]),
  );
}

/** @param {string} keyspace */
async function versionsOf(keyspace) {
  const { rows } = await admin.execute(`SELECT version FROM ${keyspace}.schema_version`, [], {
    prepare: false,
  });
  return rows.map(({ version }) => version);
}

const newest = async () => (await readMigrations()).length;

test('a new keyspace gets every table, with TTL, windows and gc_grace as the rules say; a second run does nothing', async () => {
  const settings = fresh({ BATCH_DAYS: '45', HISTORY_DAYS: '365' });
  const version = await newest();
  expect(await migrateDatabase(configOf(settings))).toEqual({ from: 0, to: version });
  const tables = await tablesOf(settings.CQL_KEYSPACE);
  expect(tables['measurement_batch']).toEqual({
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
  expect(tables['latest']).toMatchObject({ ttl: 0, strategy: 'LeveledCompactionStrategy' });

  expect(await migrateDatabase(configOf(settings))).toEqual({ from: version, to: version });
  expect(await tablesOf(settings.CQL_KEYSPACE)).toEqual(tables);
});

test.each([2, 5])('%i processes at once: one works, the others wait, all end well', async (count) => {
  const settings = fresh();
  const ended = await Promise.all(Array.from({ length: count }, () => run('api/migrate.js', settings)));
  for (const command of ended) expect(command).toEqual({ ...command, code: 0 });
  expect(ended.map(({ output }) => output).join()).toContain('one copy of everything');
  const worked = ended.filter(({ output }) => output.includes('from version 0'));
  expect(worked).toHaveLength(1);
  const version = await newest();
  expect(await versionsOf(settings.CQL_KEYSPACE)).toEqual(Array.from({ length: version }, (_, i) => i + 1));
});

test('a keyspace that another process has begun to make is waited for', async () => {
  const { cql } = configOf(fresh());
  const first = 'CREATE TABLE IF NOT EXISTS first (id int PRIMARY KEY)';
  const created = createFirst(admin, cql.keyspace, [first]);
  await admin.execute(
    `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
    [],
    { prepare: false },
  );
  await created;
  expect(Object.keys(await tablesOf(cql.keyspace))).toEqual(['first']);
});

test('packing begins by the clock of the database, however far off that of the migrating process is', async () => {
  const settings = fresh();
  const began = Date.now();
  const doNotFake = /** @type {const} */ ([
    ...['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
    ...['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'],
  ]);
  jest.useFakeTimers({ now: began + 86_400_000, doNotFake: /** @type {any} */ (doNotFake) });
  try {
    await migrateDatabase(configOf(settings));
  } finally {
    jest.useRealTimers();
  }
  const { rows } = await admin.execute(`SELECT applied_at FROM ${settings.CQL_KEYSPACE}.schema_version`, [], {
    prepare: false,
  });
  for (const { applied_at: at } of rows) {
    expect(at.getTime()).toBeGreaterThan(began - 3_600_000);
    expect(at.getTime()).toBeLessThan(began + 3_600_000);
  }
});

test('a migration that broke half-way is taken up again', async () => {
  const settings = fresh();
  await migrateDatabase(configOf(settings));
  const whole = await tablesOf(settings.CQL_KEYSPACE);
  // As a process leaves it that ended within the second: some of its tables are there, its version is not.
  for (const statement of [
    `DROP TABLE ${settings.CQL_KEYSPACE}.sensor_by_name`,
    `DROP TABLE ${settings.CQL_KEYSPACE}.measurement_batch`,
    `DROP TABLE ${settings.CQL_KEYSPACE}.dead_letter`,
    `DELETE FROM ${settings.CQL_KEYSPACE}.schema_version WHERE part = 'millrace' AND version > 1`,
  ]) {
    await admin.execute(statement, [], { prepare: false });
  }
  const { code } = await run('api/migrate.js', settings);
  expect(code).toBe(0);
  expect(await tablesOf(settings.CQL_KEYSPACE)).toEqual(whole);
});

test('a migration that broke off after it had added a column is finished', async () => {
  const settings = fresh();
  await migrateDatabase(configOf(settings));
  const whole = await tablesOf(settings.CQL_KEYSPACE);
  await admin.execute(
    `DELETE FROM ${settings.CQL_KEYSPACE}.schema_version WHERE part = 'millrace' AND version > 4`,
    [],
    { prepare: false },
  );
  expect(await migrateDatabase(configOf(settings))).toEqual({ from: 4, to: await newest() });
  expect(await tablesOf(settings.CQL_KEYSPACE)).toEqual(whole);
});

test('devices that registered before there was an index of their sites are found by it afterwards', async () => {
  const settings = fresh();
  const { CQL_KEYSPACE: keyspace } = settings;
  await migrateDatabase(configOf(settings));
  const id = '10000000-0000-4000-8000-000000000001';
  for (const statement of [
    `INSERT INTO ${keyspace}.device (grp, device_id, site) VALUES (3, ${id}, 'Oslo') USING TIMESTAMP 7`,
    `INSERT INTO ${keyspace}.device (grp, device_id, name) VALUES (4, ${id}, 'nowhere')`,
    `DELETE FROM ${keyspace}.schema_version WHERE part = 'millrace' AND version >= 8`,
  ]) {
    await admin.execute(statement, [], { prepare: false });
  }
  await migrateDatabase(configOf(settings));
  const { rows } = await admin.execute(
    `SELECT site, grp, device_id, WRITETIME(written_at) AS stamp FROM ${keyspace}.device_by_site`,
    [],
    { prepare: false },
  );
  expect(rows.map(({ site, grp, stamp }) => [site, grp, Number(stamp)])).toEqual([['Oslo', 3, 7]]);
});

test('the lock of a process that died is waited for, with a word, and expires', async () => {
  const settings = fresh();
  await migrateDatabase(configOf(settings));
  await admin.execute(
    `UPDATE ${settings.CQL_KEYSPACE}.installation USING TTL 5 SET lock_owner = 'dead:1' WHERE part = 'millrace' IF lock_owner = null`,
    [],
    { prepare: false },
  );
  const { code, output } = await run('api/migrate.js', settings);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('another process changes the schema (dead:1); waiting');
});

test('a process that stood still until another had the lock changes nothing more, and leaves the lock to that', async () => {
  const config = configOf(fresh());
  const { cql } = config;
  await migrateDatabase(config);
  const client = await connect(cql, { keyspace: cql.keyspace });
  afterwards(() => client.shutdown());
  const takeOver = `UPDATE ${cql.keyspace}.installation SET lock_owner = 'another' WHERE part = 'millrace' IF EXISTS`;
  const work = async (/** @type {() => Promise<void>} */ keep) => {
    await keep();
    await admin.execute(takeOver, [], { prepare: false });
    await keep();
  };
  await expect(withSchemaLock(client, work, () => {})).rejects.toMatchObject({ code: 'unavailable' });
  const owners = `SELECT lock_owner FROM ${cql.keyspace}.installation`;
  const { rows } = await admin.execute(owners, [], { prepare: false });
  expect(rows.map(({ lock_owner: owner }) => owner)).toEqual(['another']);
});

describe('settings that differ from those of the database', () => {
  test.each([
    ['LATEST_GROUPS', '8'],
    ['BATCH_DAYS', '40'],
    ['HISTORY_DAYS', '400'],
  ])('%s stops the process, named', async (name, value) => {
    const settings = fresh();
    await migrateDatabase(configOf(settings));
    const { code, output } = await run('api/index.js', { ...settings, [name]: value });
    expect(code).toBe(73);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).toContain(`${name} is ${value} here and `);
  });

  test('migrate changes the retention, of the table too, and never the groups', async () => {
    const settings = fresh();
    await migrateDatabase(configOf(settings));
    const changed = { ...settings, BATCH_DAYS: '90', HISTORY_DAYS: '400' };
    const { code, output } = await run('api/migrate.js', changed);
    expect({ code, output }).toMatchObject({ code: 0 });
    const tables = await tablesOf(settings.CQL_KEYSPACE);
    expect(tables['measurement_batch']).toMatchObject({ ttl: 90 * 86_400, window: '3 DAYS' });
    for (const table of ['history', 'history_stat', 'sparkplug_birth', 'device_event']) {
      expect(tables[table]).toMatchObject({ ttl: 400 * 86_400, window: '14 DAYS' });
    }
    const store = await connectStore({
      ...configOf(changed),
      observe: () => {},
      onStaleIndex: () => {},
    });
    await store.close();

    const regrouped = await run('api/migrate.js', { ...changed, LATEST_GROUPS: '8' });
    expect(regrouped.code).toBe(73);
    expect(regrouped.output).toContain('LATEST_GROUPS is 16 for ever');
  });
});

describe('a schema that npm start cannot work with', () => {
  test('none: the command is named', async () => {
    const { code, output } = await run('api/index.js', fresh());
    expect(code).toBe(73);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).toContain('npm run migrate');
  });

  test('a keyspace without tables, an older and a newer version: what to do is said', async () => {
    const settings = fresh();
    const { CQL_KEYSPACE: keyspace } = settings;
    await admin.execute(
      `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
      [],
      { prepare: false },
    );
    const empty = await run('api/index.js', settings);
    expect(empty).toMatchObject({ code: 73, output: expect.stringContaining('has version 0') });
    expect(empty.output).toContain('npm run migrate');

    await migrateDatabase(configOf(settings));
    const version = await newest();
    await admin.execute(
      `DELETE FROM ${keyspace}.schema_version WHERE part = 'millrace' AND version = ${version}`,
      [],
      { prepare: false },
    );
    const old = await run('api/index.js', settings);
    expect(old).toMatchObject({ code: 73, output: expect.stringContaining('npm run migrate') });

    await admin.execute(
      `INSERT INTO ${keyspace}.schema_version (part, version) VALUES ('millrace', ${version + 1})`,
      [],
      { prepare: false },
    );
    const ahead = await run('api/index.js', settings);
    expect(ahead).toMatchObject({ code: 73, output: expect.stringContaining('update the program') });
  });
});

describe('a database that cannot be reached as set', () => {
  test.each(/** @type {const} */ (['api/index.js', 'api/migrate.js']))(
    '%s: one clear sentence, naming the setting',
    async (script) => {
      const settings = fresh();
      const wrongDc = await run(script, { ...settings, CQL_LOCAL_DC: 'elsewhere' });
      expect(wrongDc.output).toMatch(/^CQL_LOCAL_DC=elsewhere is not right: .*datacenter1.*\n$/);
      expect(wrongDc.code).toBe(78);

      const nobody = `127.0.0.1:${await freePort()}`;
      const wrongPort = await run(script, { ...settings, CQL_CONTACT_POINTS: nobody });
      expect(wrongPort.output).toMatch(
        /^No database answers at .* \(CQL_CONTACT_POINTS\): .*ECONNREFUSED.*\n$/,
      );
      expect(wrongPort.code).toBe(69);

      const CQL_LOCAL_PORT = String(await freePort());
      const noEngine = await run(script, { ...settings, CQL_CONTACT_POINTS: '', CQL_LOCAL_PORT });
      expect(noEngine.output).toMatch(/^No database answers at .* \(CQL_LOCAL_PORT\): .*ECONNREFUSED.*\n$/);
      expect(noEngine.code).toBe(69);
    },
  );

  test('a wrong password: one clear sentence; the right one is let in', async () => {
    const engine = await startTestEngine({ auth: true });
    try {
      const settings = {
        CQL_CONTACT_POINTS: engine.contactPoint,
        CQL_USERNAME: 'cassandra',
        CQL_PASSWORD: 'wrong',
      };
      const right = { ...settings, CQL_PASSWORD: 'cassandra' };
      // The first role is made some seconds after the start.
      await until(async () => (await run('api/migrate.js', right)).code === 0, { withinMs: 60_000 });
      const { code, output } = await run('api/migrate.js', settings);
      expect(code).toBe(78);
      expect(output).toMatch(/^The database at .* refuses CQL_USERNAME and CQL_PASSWORD: .*\n$/);
      const nobody = await run('api/migrate.js', { CQL_CONTACT_POINTS: engine.contactPoint });
      expect(nobody.code).toBe(78);
      expect(nobody.output).toContain('CQL_USERNAME');
    } finally {
      await engine.dispose();
    }
  });

  test('a connect() that failed leaves nothing behind: the process ends by itself', async () => {
    const script = `
      import { connect } from './api/store/connect.js';
      import { readSettings } from './common/settings.js';
      const { cql } = readSettings(process.env, { envFile: '' });
      await connect(cql).catch((error) => console.log(error.code));`;
    const outcomes = [];
    /** @type {Record<string, string>[]} */
    const wrong = [{ CQL_LOCAL_DC: 'elsewhere' }, { CQL_CONTACT_POINTS: `127.0.0.1:${await freePort()}` }];
    for (const more of wrong) {
      const env = { ...fresh(more), PATH: process.env['PATH'] };
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '--eval', script],
        { env, timeout: 30_000 },
      );
      outcomes.push(stdout.trim());
    }
    expect(outcomes).toEqual(['bad_settings', 'database_away']);
  });
});
