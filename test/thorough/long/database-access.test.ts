import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient } from '../../../api/store/client.ts';
import { connect } from '../../../api/store/connect.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { writeCombinedPem } from '../../../infra/tls/combined-pem.ts';
import { certificatesFolder } from '../../support/certificates.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startTestEngine, type TestEngine } from '../../support/database/engine.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { startApi, startCommand } from '../../support/processes/api-process.ts';
import { until } from '../../support/until.ts';

// All tests share one database. Its clients need TLS, a role and permissions.

const STARTS_MS = 300_000;
const HOUR_MS = 3_600_000;
/** The protocol error code of a statement that the role may not execute. */
const UNAUTHORIZED = 0x2100;

const certificates = certificatesFolder();
const afterwards = useCleanUps();
let engine: TestEngine;
let own: Awaited<ReturnType<typeof certificates.make>>;
let superuser: Record<string, string>;
/** settings of each role */
let roles: Record<'migrate' | 'serve', Record<string, string>>;

beforeAll(async () => {
  own = await certificates.make('ours', { hosts: '127.0.0.1,db.example' });
  const pem = `${own.cert}.pair`;
  await writeCombinedPem(pem, own);
  engine = await startTestEngine({ auth: true, tls: { pem, ca: own.ca, demandsClients: true } });
  const shared = {
    CQL_CONTACT_POINTS: engine.contactPoint,
    CQL_TLS_CA: own.ca,
    CQL_TLS_CERT: own.cert,
    CQL_TLS_KEY: own.key,
    LATEST_GROUPS: '2',
    HTTP_PORT: '0',
    MQTT_PORT: '0',
  };
  superuser = { ...shared, CQL_USERNAME: 'cassandra', CQL_PASSWORD: 'cassandra' };
  roles = {
    migrate: { ...shared, CQL_USERNAME: 'millrace_migrate', CQL_PASSWORD: "it's the migrating one" },
    serve: { ...shared, CQL_USERNAME: 'millrace_serve', CQL_PASSWORD: 'the serving one' },
  };
}, STARTS_MS);
afterAll(async () => {
  await engine?.dispose();
  certificates.remove();
}, STARTS_MS);

const cqlOf = (settings: Record<string, string>) => readSettings(settings, { envFile: '' }).cql;

async function open(settings: Record<string, string>) {
  const client = await connect(cqlOf(settings), { applicationName: 'test' });
  afterwards(() => client.shutdown());
  return client;
}

const makeRoles = (args: string[], settings: Record<string, string> = superuser) =>
  startCommand('api/features/roles/command.ts', settings, args).ended;

/** Writes each password to its own file. @returns the flags that name the files */
function passwordFlags(): string[] {
  return Object.entries(roles).flatMap(([duty, { CQL_PASSWORD = '' }]) => {
    const path = `${own.cert}.${duty}`;
    writeFileSync(path, `${CQL_PASSWORD}\n`);
    return [`--${duty}-password-file`, path];
  });
}

test('CQL with TLS: CQL_TLS_CA has the authority, and the certificate has the host: the client connects', async () => {
  const { rows } = await (await open(superuser)).execute('SELECT release_version FROM system.local');
  expect(rows).toHaveLength(1);
});

test('CQL with TLS: the cluster requires a client certificate, and none is set: an error that names CQL_TLS_CERT', async () => {
  const { CQL_TLS_CERT, CQL_TLS_KEY, ...anonymous } = superuser;
  await expect(connect(cqlOf(anonymous))).rejects.toMatchObject({
    message: expect.stringContaining('CQL_TLS_CERT'),
  });
});

test('CQL with TLS: another authority signed the certificate of the database: an error that names CQL_TLS_CA', async () => {
  const other = await certificates.make('other');
  await expect(connect(cqlOf({ ...superuser, CQL_TLS_CA: other.ca }))).rejects.toMatchObject({
    code: 'bad_settings',
    message: expect.stringMatching(/is not to be trusted: .*not signed by the authority in CQL_TLS_CA/),
  });
});

test('CQL with TLS: the certificate lacks the host: refused, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  const port = Number(engine.contactPoint.split(':')[1]);
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    socket.pipe(connectTcp(port, '127.0.0.1').on('error', () => {})).pipe(socket);
  });
  proxy.listen(0, '127.0.0.2');
  await once(proxy, 'listening');
  afterwards(() => proxy.close());
  const address = proxy.address() as AddressInfo;
  const settings = { ...superuser, CQL_CONTACT_POINTS: `127.0.0.2:${address.port}` };
  const { code, output } = await startCommand('api/commands/migrate.ts', {
    ...settings,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }).ended;
  expect(output).toMatch(/is not to be trusted: .*signed by the authority in CQL_TLS_CA, is for other hosts/);
  expect(code).toBe(78);
});

test('CQL with TLS: node has a certificate for a host name: accepted only if CQL_CONTACT_POINTS has the name', async () => {
  const socket = connectTls({
    host: '127.0.0.1',
    port: Number(engine.contactPoint.split(':')[1]),
    ca: own.authority,
  });
  await once(socket, 'secureConnect');
  const shown = socket.getPeerCertificate();
  socket.destroy();
  const identityError = (contactPoint: string) => {
    const client = createClient(cqlOf({ ...superuser, CQL_CONTACT_POINTS: contactPoint }));
    // The type declarations lack the options of a client.
    const { sslOptions } = Reflect.get(client, 'options');
    return sslOptions.checkServerIdentity('10.0.0.1', shown);
  };
  expect(identityError('db.example:9142')).toBeUndefined();
  expect(identityError('other.example:9142')).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

test('CQL with TLS: client without TLS connects to a database with TLS only: error database_away', async () => {
  const { CQL_TLS_CA: _ca, CQL_TLS_CERT: _cert, CQL_TLS_KEY: _key, ...open } = superuser;
  await expect(connect(cqlOf(open))).rejects.toMatchObject({ code: 'database_away' });
});

test('npm run roles: --dry-run: prints the statements without a password, and creates no role', async () => {
  const { code, output } = await makeRoles(['--dry-run', ...passwordFlags()]);
  expect(code).toBe(0);
  expect(output).toContain(
    "ALTER ROLE millrace_migrate WITH PASSWORD = '…' AND LOGIN = true AND SUPERUSER = false;",
  );
  expect(output).toContain('GRANT MODIFY ON KEYSPACE iot TO millrace_serve;');
  expect(output).not.toMatch(/serving one|GRANT (CREATE|ALTER|DROP)[^;]*millrace_serve/);
  await expect(connect(cqlOf(roles.serve))).rejects.toThrow(/refuses CQL_USERNAME and CQL_PASSWORD/);
});

test(
  'npm run roles: roles for migrations and for serving: each role has only the permissions that it needs',
  async () => {
    const made = await makeRoles(passwordFlags());
    expect(made).toMatchObject({ code: 0, output: expect.not.stringMatching(/serving one|migrating one/) });
    const admin = await open(superuser);
    await admin.execute(
      "CREATE KEYSPACE other WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
    );
    await admin.execute('CREATE TABLE other.secret (id int PRIMARY KEY)');

    const early = await startCommand('api/commands/migrate.ts', roles.serve).ended;
    expect(early).toMatchObject({
      code: 78,
      output: expect.stringMatching(/millrace_serve has not the rights .*npm run roles/),
    });
    const migrated = await startCommand('api/commands/migrate.ts', roles.migrate).ended;
    expect(migrated).toMatchObject({
      code: 0,
      output: expect.stringContaining('The schema went from version 0'),
    });
    expect(await startCommand('api/commands/migrate.ts', roles.migrate).ended).toMatchObject({ code: 0 });

    await exerciseServingRole();
    expect(await startOutput(roles.serve)).not.toMatch(/"username":/);
    expect(await startOutput(roles.migrate)).toMatch(
      /"username":"millrace_migrate".*may do more .* than serve/,
    );
    expect(await startOutput(superuser)).toMatch(/CQL_USERNAME is a superuser of the database/);
    const mayNot = await makeRoles(
      ['--serve-role', 'a', '--migrate-role', 'b', ...passwordFlags()],
      roles.serve,
    );
    expect(mayNot.output).toMatch(/sufficient privileges.*Is millrace_serve a superuser there\?/);
    expect((await makeRoles(passwordFlags())).code).toBe(0);

    const serve = await open(roles.serve);
    await serve.execute('SELECT * FROM iot.installation');
    const migrate = await open(roles.migrate);
    await migrate.execute('ALTER TABLE iot.latest ADD tried int');
    const forNobody = [
      "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
      'DROP KEYSPACE iot',
      'SELECT * FROM other.secret',
      'INSERT INTO other.secret (id) VALUES (1)',
      'CREATE ROLE another',
      'GRANT ALTER ON KEYSPACE iot TO millrace_serve',
      "ALTER ROLE cassandra WITH PASSWORD = 'x'",
      'SELECT * FROM system_auth.roles',
    ];
    const forMigrate = [
      'CREATE TABLE iot.t (id int PRIMARY KEY)',
      'ALTER TABLE iot.latest ADD t int',
      'DROP TABLE iot.latest',
    ];
    for (const cql of [...forNobody, ...forMigrate]) {
      await expect(serve.execute(cql, [], { prepare: false })).rejects.toMatchObject({
        code: UNAUTHORIZED,
      });
    }
    for (const cql of forNobody) {
      await expect(migrate.execute(cql, [], { prepare: false })).rejects.toMatchObject({
        code: UNAUTHORIZED,
      });
    }
  },
  STARTS_MS,
);

test(
  'Database roles: rotation of a password: new connections need the new password, and open connections stay',
  async () => {
    const api = await startApi(roles.serve);
    afterwards(() => api.kill());
    const device = await connectDevice(api);
    afterwards(() => device.end());
    await device.birth('lathe', { sensors: [{ sensor_id: 'speed' }] });
    const old = { ...roles.serve };
    roles.serve['CQL_PASSWORD'] = 'the next serving one';
    // Cassandra accepts a new password of a role only 5 s after the last change.
    await until(async () => (await makeRoles(passwordFlags())).code === 0, {
      what: 'the rotation',
      withinMs: 120_000,
    });
    await until(() => open(roles.serve).then(Boolean, () => false), { what: 'the new password' });
    await device.measure('lathe', [{ sensor_id: 'speed', ts: Date.now(), value: 1 }]);
    await expect(connect(cqlOf(old))).rejects.toThrow(/refuses CQL_USERNAME and CQL_PASSWORD/);
  },
  STARTS_MS,
);

/** @returns the output of `npm start` until it is ready */
async function startOutput(settings: Record<string, string>): Promise<string> {
  const api = await startApi(settings);
  await api.kill();
  return api.output();
}

async function exerciseServingRole() {
  const api = await startApi(roles.serve);
  afterwards(() => api.kill());
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${api.httpUrl}/api/v1${path}`, init);
    return { status: response.status, body: response.status === 204 ? null : await response.json() };
  };
  const device = await connectDevice(api);
  await device.birth('press', {
    site: 'hall',
    sensors: [{ sensor_id: 'torque', type: 'torque', unit: 'Nm' }],
  });
  const now = Date.now();
  const ages = [0, 1000, 2.5 * HOUR_MS];
  await device.measure(
    'press',
    ages.map((age) => ({ sensor_id: 'torque', ts: now - age, value: age })),
  );
  await device.publish('iot/v1/press/measurements', 'no JSON');
  await device.status('press', 'online');
  expect((await ask('/latest?site=hall')).body.items).toMatchObject([{ name: 'torque', value: 0 }]);
  const path = '/devices/press/sensors/torque/measurements';
  expect((await ask(path)).body.items).toHaveLength(ages.length);
  expect((await ask('/dead-letters')).body.items).toHaveLength(1);
  expect((await ask('/devices/press/events')).body.items.length).toBeGreaterThan(0);
  expect((await ask('/pipeline')).body.processes).toHaveLength(1);

  const database = await open(roles.serve);
  const rowsOf = async (table: string) => (await database.execute(`SELECT * FROM iot.${table}`)).rows;
  await until(async () => (await rowsOf('pack_progress')).length > 0, { what: 'packing', withinMs: 120_000 });
  expect(await rowsOf('history')).not.toHaveLength(0);
  expect((await ask('/devices/press/sensors/torque/series?points=10')).status).toBe(200);
  expect((await ask('/devices/press', { method: 'DELETE' })).status).toBe(204);
  expect((await ask('/latest?site=hall')).body.items).toEqual([]);
  await device.end();
  api.signal('SIGTERM');
  const { code, output } = await api.ended;
  expect(code).toBe(0);
  expect(output).not.toMatch(/permission|unauthorized/i);
}
