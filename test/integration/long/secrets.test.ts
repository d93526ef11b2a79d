import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { dropKeyspace } from '../../support/database/keyspace.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { startTcpProxy } from '../../support/http/tcp-proxy.ts';
import { type Mosquitto, startMosquitto } from '../../support/mqtt/mosquitto.ts';
import { type ApiProcess, startApi, startCommand } from '../../support/processes/api-process.ts';
import { until } from '../../support/until.ts';

const SECRETS = {
  CQL_PASSWORD: 'cql-"hush"-5f1c',
  MQTT_PASSWORD: 'mqtt-hush-77ab',
  API_TOKEN: 'token-hush-90de',
  CURSOR_SECRET: 'cursor-hush-33f0',
  READ_TOKENS: 'reader-hush-1d20',
};
const HEADERS = { authorization: `Bearer ${SECRETS.API_TOKEN}` };

let mosquitto: Mosquitto;
let tcpProxy: Awaited<ReturnType<typeof startTcpProxy>>;
let api: ApiProcess;
let direct: Config['cql'];

beforeAll(async () => {
  mosquitto = await startMosquitto({ users: { millrace: SECRETS.MQTT_PASSWORD } });
  tcpProxy = await startTcpProxy(`cql://${sharedContactPoint()}`);
  const settings = {
    ...SECRETS,
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_USERNAME: 'millrace',
    CQL_KEYSPACE: uniqueName('t'),
    MQTT_URL: mosquitto.url,
    MQTT_USERNAME: 'millrace',
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'trace',
  };
  const config = readSettings(settings, { envFile: '' });
  direct = config.cql;
  await migrateDatabase(config);
  api = await startApi({ ...settings, CQL_CONTACT_POINTS: new URL(tcpProxy.url).host });
});
afterAll(async () => {
  await api?.kill();
  await tcpProxy?.stop();
  await mosquitto?.remove();
  if (direct) await dropKeyspace(direct);
});

const lines = () =>
  api
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));

const get = (path: string, headers = {}) => send(api.httpUrl, path, { headers: { ...HEADERS, ...headers } });

test('HTTP request id: sent by the client or generated: response header, problem document and log line have the same id', async () => {
  const withId = await get('/api/v1/devices/nobody', { 'x-request-id': 'proxy:42/a' });
  expect(withId.headers['x-request-id']).toBe('proxy:42/a');
  expect(expectProblem(withId, 404, 'not_found').request_id).toBe('proxy:42/a');

  const withoutId = await get('/api/v1/latest');
  expect(withoutId.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  expect((await get('/api/v1/latest')).headers['x-request-id']).not.toBe(withoutId.headers['x-request-id']);

  for (const bad of ['two words', 'x'.repeat(129), 'a"b', '{"level":60}']) {
    expect((await get('/healthz', { 'x-request-id': bad })).headers['x-request-id']).toMatch(
      /^[\da-f-]{36}$/,
    );
  }

  const unauthorized = await send(api.httpUrl, '/api/v1/latest', { headers: { 'x-request-id': 'stranger' } });
  expect(expectProblem(unauthorized, 401, 'unauthorized').request_id).toBe('stranger');

  tcpProxy.cut('reset');
  const failed = await get('/api/v1/devices/nobody', { 'x-request-id': 'failed' });
  expect(expectProblem(failed, 503, 'unavailable').request_id).toBe('failed');
  await until(() => lines().some(({ requestId }) => requestId === 'failed'));
  expect(lines().find(({ requestId }) => requestId === 'failed')).toMatchObject({
    level: 40,
    method: 'GET',
    path: '/api/v1/devices/nobody',
    code: 'unavailable',
  });
  await tcpProxy.open();
});

test('Database without authentication: a process starts: it logs a warning; npm run roles fails with the reason', async () => {
  expect(lines().filter(({ username }) => username === 'millrace')).toMatchObject([
    {
      level: 40,
      msg: expect.stringMatching(/asks nobody for a password.*authenticator: PasswordAuthenticator/),
    },
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'millrace-roles-'));
  const [migrate, serve] = [join(folder, 'm'), join(folder, 's')];
  for (const path of [migrate, serve]) writeFileSync(path, 'hush');
  const settings = { ...SECRETS, CQL_USERNAME: 'me', CQL_CONTACT_POINTS: sharedContactPoint() };
  const { code, output } = await startCommand(
    'api/features/roles/command.ts',
    { ...settings, CQL_KEYSPACE: direct.keyspace, MQTT_PASSWORD: '' },
    ['--migrate-password-file', migrate, '--serve-password-file', serve],
  ).ended;
  rmSync(folder, { recursive: true });
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringMatching(/authenticates nobody.*authenticator: PasswordAuthenticator/),
  });
  expect(output).not.toContain('superuser there?');
});
