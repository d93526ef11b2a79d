import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readSettings, SETTINGS } from '../../common/settings/index.js';
import { INSTALLS_MS, interpolate, loadCompose } from '../support/compose.js';

// What docker-compose.yml says of our own programs, held against them.

/** And the command of package.json that each is. */
const OURS = [
  ['api', 'start'],
  ['https', 'start:http'],
  ['roles', 'roles'],
  ['migrate', 'migrate'],
  ['simulator', 'simulator'],
];

/** @type {Awaited<ReturnType<typeof loadCompose>>} */
let stand;
beforeAll(async () => {
  stand = await loadCompose();
}, INSTALLS_MS);
afterAll(() => stand.remove());

/**
 * @param {string} name
 * @param {Record<string, string>} [variables] of `.env`
 * @returns {Record<string, string>} the environment of a service, with paths of this machine
 */
const environmentOf = (name, variables) =>
  Object.fromEntries(
    Object.entries(stand.compose.services[name].environment).map(([key, value]) => [
      key,
      String(value).startsWith('/run/secrets/')
        ? stand.secretFile(String(value))
        : interpolate(value, variables),
    ]),
  );

/** @param {Record<string, string>} environment */
const settingsFrom = (environment) => readSettings(environment, { envFile: join(stand.secrets, 'none') });

test.each(OURS)('%s gets settings that the application knows and accepts', (name) => {
  const known = Object.keys(SETTINGS).flatMap((key) =>
    SETTINGS[key]?.secret ? [key, `${key}_FILE`] : [key],
  );
  const environment = environmentOf(name);
  expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
  settingsFrom(environment);
});

test('what migrate stores, each process that is held to it gets from .env, else the default of the application', () => {
  const stored = { LATEST_GROUPS: '128', BATCH_DAYS: '45', HISTORY_DAYS: '730' };
  for (const name of ['migrate', 'api', 'https']) {
    for (const setting of Object.keys(stored))
      expect(environmentOf(name)).toHaveProperty(setting, SETTINGS[setting]?.fallback);
    const { retention } = settingsFrom(environmentOf(name, stored));
    expect(retention).toEqual({ latestGroups: 128, batchDays: 45, historyDays: 730 });
  }
});

test('the page tells of what the first start fixes before it starts anything', () => {
  const [before = ''] = readFileSync('docs/how-to/deploy-with-compose.md', 'utf8').split('```sh');
  for (const told of [
    '`LATEST_GROUPS`',
    '`BATCH_DAYS`',
    '`HISTORY_DAYS`',
    'npm run size',
    '--profile cluster',
  ])
    expect(before).toContain(told);
});

test('no two processes have one session at the broker: they would take it from each other for ever', () => {
  const ids = stand.services.flatMap(([, { environment }]) => environment?.MQTT_CLIENT_ID ?? []);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(2);
});

test('the API finds every node by one name, the broker by another, and has a token that cannot be guessed', () => {
  const { cql, mqtt, http } = settingsFrom(environmentOf('api'));
  expect(cql).toMatchObject({ contactPoints: ['cql'], localDc: 'datacenter1' });
  expect(mqtt.url).toBe('mqtt://mosquitto:1883');
  expect(http.apiToken).toMatch(/^[0-9a-f]{48}$/);
  expect(http.readTokens).toEqual([expect.stringMatching(/^[0-9a-f]{48}$/)]);
});

test('https says and hears nothing in the clear: without each of its TLS settings it would be refused', () => {
  const environment = environmentOf('https');
  expect(environment).not.toHaveProperty('TLS_ELSEWHERE');
  const { cql, mqtt } = settingsFrom(environment);
  expect(cql.contactPoints).toEqual(['cql:9142']);
  expect(mqtt.url).toBe('mqtts://mosquitto:8883');
  for (const setting of ['CQL_TLS_CA', 'HTTP_TLS_CERT', 'HTTP_TLS_KEY']) {
    const { [setting]: _, ...others } = environment;
    expect(() => settingsFrom(others)).toThrow(setting);
  }
});

test.each(OURS)('%s is run by the command of npm run %s', (name, script) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const command = scripts[script].replace(/^(\w+=\w+ )*exec /, '');
  expect(`${stand.compose.services[name].command.join(' ')} `.startsWith(`${command} `)).toBe(true);
  const program = stand.compose.services[name].command.find((/** @type {string} */ part) =>
    part.endsWith('.js'),
  );
  expect(existsSync(program)).toBe(true);
});

test('a superuser makes two roles, and each process has the password that its role was made with', () => {
  const flags = stand.compose.services.roles.command.join(' ');
  for (const [name, duty] of [
    ['migrate', 'migrate'],
    ['api', 'serve'],
    ['https', 'serve'],
  ]) {
    const { CQL_USERNAME, CQL_PASSWORD_FILE } = stand.compose.services[String(name)].environment;
    expect(CQL_USERNAME).toBe(`millrace_${duty}`);
    expect(flags).toContain(`--${duty}-password-file=${CQL_PASSWORD_FILE}`);
  }
});
