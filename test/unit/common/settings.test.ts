import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { ALL_SETTINGS, SETTINGS_GROUPS } from '../../../api/features/index.ts';
import { isLoopback } from '../../../common/addresses.ts';
import { envExample } from '../../../common/settings/documents.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { KAFKA_SETTINGS } from '../../../schema/kafka/index.ts';
import { useDirectory } from '../../support/directory.ts';
import { NO_ENV_FILE, problemsOf } from '../../support/settings.ts';

const EXAMPLE = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
const NONE = { envFile: NO_ENV_FILE };

const folder = useDirectory('settings');

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('Settings: no setting is set: all listeners are on loopback, with the documented defaults', () => {
  expect(readSettings({}, NONE)).toMatchObject({
    cql: {
      contactPoints: null,
      localDc: 'datacenter1',
      keyspace: 'iot',
      consistency: 'LOCAL_QUORUM',
      localPort: 9042,
    },
    dataDir: resolve('.data'),
    mqtt: { url: undefined, host: '127.0.0.1', port: 1883, auth: false, sessionExpirySeconds: 604_800 },
    http: {
      host: '127.0.0.1',
      port: 8080,
      apiToken: undefined,
      readTokens: [],
      ingestTokens: [],
      correctTokens: [],
      trustProxy: 0,
    },
    role: 'all',
    ingest: {
      autoRegister: true,
      autoRegisterMax: 100_000,
      maxMessageBytes: 1_048_576,
      maxClockSkewMs: 300_000,
      relativeTimes: true,
    },
    retention: { batchDays: 30, historyDays: 365, latestGroups: 16 },
  });
});

test('Settings: separate database, broker and ingest processes: every setting is read as written in the environment', () => {
  const config = readSettings(
    {
      ROLE: 'ingest',
      CQL_CONTACT_POINTS: 'db-1, db-2:9142,[2001:db8::1]:9042',
      MQTT_URL: 'mqtts://broker.example:8883',
      MQTT_SESSION_EXPIRY: '1d',
      CURSOR_SECRET: 'a secret',
      HTTP_PORT: '0',
      LATEST_GROUPS: '1e3',
    },
    NONE,
  );
  expect(config).toMatchObject({
    role: 'ingest',
    cql: { contactPoints: ['db-1', 'db-2:9142', '[2001:db8::1]:9042'] },
    mqtt: { url: 'mqtts://broker.example:8883', sessionExpirySeconds: 86_400 },
    http: { port: 0, cursorSecret: 'a secret' },
    ingest: { autoRegister: false },
    retention: { latestGroups: 1000 },
  });
});

test.each([
  [{}, true],
  [{ MQTT_URL: 'mqtt://localhost:1883' }, true],
  [{ MQTT_URL: 'mqtt://[::1]:1883' }, true],
  [{ MQTT_URL: 'mqtt://broker.example' }, false],
  [{ MQTT_URL: 'mqtt://broker.example', AUTO_REGISTER: 'true' }, true],
  [{ AUTO_REGISTER: 'false' }, false],
  [
    {
      MQTT_HOST: '0.0.0.0',
      MQTT_AUTH: 'true',
      MQTT_USERNAME: 'u',
      MQTT_PASSWORD: 'a password of 16 or more',
      TLS_ELSEWHERE: 'true',
    },
    false,
  ],
])('Settings: environment %p: AUTO_REGISTER is %p', (environment, expected) => {
  expect(readSettings(environment, NONE).ingest.autoRegister).toBe(expected);
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['LocalHost', true],
  ['::1', true],
  ['[::1]', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.0.0.1.example', false],
  ['localhost.example', false],
  ['10.0.0.1', false],
  ['', false],
])('Settings: isLoopback() of host %j: %p', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test.each([
  ['HTTP_PORT', '65536', 'must be a whole number from 0 to 65535'],
  ['HTTP_PORT', '80a', 'must be a whole number from 0 to 65535'],
  ['MQTT_PORT', '-1', 'must be a whole number from 0 to 65535'],
  ['CQL_LOCAL_PORT', '0', 'must be a whole number from 1 to 65535'],
  ['BATCH_DAYS', '3', 'must be a whole number from 4 to 3650'],
  ['MQTT_AUTH', 'yes', 'must be true or false'],
  ['ROLE', 'reader', 'must be one of all, ingest, http'],
  ['CQL_CONSISTENCY', 'ANY', 'must be one of ONE, LOCAL_ONE, TWO, QUORUM, LOCAL_QUORUM, EACH_QUORUM, ALL'],
  ['CQL_KEYSPACE', 'Iot; DROP', 'must be a lower-case CQL name of up to 48 characters'],
  ['MQTT_SHARE_GROUP', 'a/b', 'must be a text without /, +, # and spaces'],
  ['MAX_CLOCK_SKEW', '5', 'must be a duration such as 5m or 7d, from 0s to 1d'],
  ['MQTT_SESSION_EXPIRY', '0s', 'must be a duration such as 5m or 7d, from 1s to 49710d'],
  ['CQL_CONTACT_POINTS', 'a,,b', 'must be host[:port], comma-separated, IPv6 in brackets; "" is not'],
  ['CQL_CONTACT_POINTS', 'a:0', 'must be host[:port], comma-separated, IPv6 in brackets; "a:0" is not'],
  ['CQL_CONTACT_POINTS', '::1', 'must be host[:port], comma-separated, IPv6 in brackets; "::1" is not'],
])('Settings: wrong value: %s=%s: refused', (name, value, message) => {
  expect(problemsOf({ [name]: value })).toEqual([`${name} ${message}`]);
});

test.each([
  'broker.example',
  'http://broker.example',
  'mqtt://broker.example:99999',
  'mqtt://user:password@broker.example',
  'mqtt://broker.example/path',
])('Settings: wrong value: MQTT_URL=%s: refused', (MQTT_URL) => {
  expect(problemsOf({ MQTT_URL })).toEqual([
    'MQTT_URL must be mqtt://host:port or mqtts://host:port, without user, password and path',
  ]);
});

test('Settings: wrong value: the certificate file does not exist: refused', () => {
  expect(problemsOf({ CQL_TLS_CA: join(folder, 'no.pem') })).toEqual([
    expect.stringMatching(/^CQL_TLS_CA cannot be read: ENOENT/),
  ]);
});

test.each([
  [
    { HTTP_HOST: '0.0.0.0', TLS_ELSEWHERE: 'true' },
    ['API_TOKEN must be set when HTTP_HOST is beyond loopback'],
  ],
  [{ MQTT_HOST: '::', TLS_ELSEWHERE: 'true' }, ['MQTT_AUTH must be true when MQTT_HOST is beyond loopback']],
  [
    { MQTT_AUTH: 'true', MQTT_USERNAME: 'u' },
    ['MQTT_PASSWORD must be set when MQTT_USERNAME and MQTT_AUTH are set'],
  ],
  [{ CQL_USERNAME: 'u' }, ['CQL_PASSWORD must be set when CQL_USERNAME is set']],
  [{ CQL_PASSWORD: 'p' }, ['CQL_USERNAME must be set when CQL_PASSWORD is set']],
  [{ MQTT_PASSWORD: 'p' }, ['MQTT_USERNAME must be set when MQTT_PASSWORD is set']],
  [
    { BATCH_DAYS: '30', HISTORY_DAYS: '7' },
    ['HISTORY_DAYS must not be less than BATCH_DAYS: history is packed from batches'],
  ],
  [
    { ROLE: 'http' },
    [
      'CURSOR_SECRET must be set when ROLE is http',
      'MQTT_URL must be set when ROLE is http',
      'CQL_CONTACT_POINTS must be set when ROLE is http',
    ],
  ],
])('Settings: combination %p: each conflict is reported, none for a valid one', (environment, problems) => {
  expect(problemsOf(environment)).toEqual(problems);
});

test.each([
  [{ HTTP_HOST: '0.0.0.0', API_TOKEN: 'a token of 16 or more' }, 'HTTP'],
  [{ HTTP_HOST: '10.0.0.1', ROLE: 'ingest' }, 'HTTP'],
  [
    { MQTT_HOST: '::', MQTT_AUTH: 'true', MQTT_USERNAME: 'u', MQTT_PASSWORD: 'a password of 16 or more' },
    'MQTT',
  ],
])('Settings: listener beyond loopback without TLS, environment %p: refused', (own, protocol) => {
  const environment: Record<string, string> = {
    ...own,
    CURSOR_SECRET: 's',
    CQL_CONTACT_POINTS: 'db',
    ...(protocol === 'HTTP' ? { MQTT_URL: 'mqtt://localhost' } : {}),
  };
  const message = `${protocol}_TLS_CERT and ${protocol}_TLS_KEY must be set when ${protocol}_HOST is beyond loopback, or TLS_ELSEWHERE=true if a proxy ends TLS or the network is private`;
  expect(problemsOf(environment)).toEqual([message]);
  expect(problemsOf({ ...environment, TLS_ELSEWHERE: 'true' })).toEqual([]);
  const pem = file('own.pem', 'PEM');
  const tls = { [`${protocol}_TLS_CERT`]: pem, [`${protocol}_TLS_KEY`]: pem };
  expect(problemsOf({ ...environment, ...tls })).toEqual([]);
});

test('Settings: client certificate for the database: refused without CQL_TLS_CERT, CQL_TLS_KEY or CQL_TLS_CA', () => {
  const pem = file('shown.pem', 'PEM');
  const [CQL_TLS_CERT, CQL_TLS_KEY, CQL_TLS_CA] = [pem, pem, pem];
  expect(problemsOf({ CQL_TLS_CERT, CQL_TLS_CA })).toEqual([
    'CQL_TLS_KEY must be set when CQL_TLS_CERT is set',
  ]);
  expect(problemsOf({ CQL_TLS_KEY, CQL_TLS_CA })).toEqual([
    'CQL_TLS_CERT must be set when CQL_TLS_KEY is set',
  ]);
  expect(problemsOf({ CQL_TLS_CERT, CQL_TLS_KEY })).toEqual([
    'CQL_TLS_CA must be set when CQL_TLS_CERT is set',
  ]);
  expect(problemsOf({ CQL_TLS_CERT, CQL_TLS_KEY, CQL_TLS_CA })).toEqual([]);
});

test('Settings: wrong combinations: secrets under 16 characters are refused on listeners beyond loopback', () => {
  const [short, long] = ['x'.repeat(15), 'x'.repeat(16)];
  const lists = {
    READ_TOKENS: `${long},${short}`,
    INGEST_TOKENS: `${short.slice(1)},${long}i`,
    CORRECT_TOKENS: short.slice(3),
  };
  const exposed: Record<string, string>[] = [
    { HTTP_HOST: '0.0.0.0', TLS_ELSEWHERE: 'true' },
    { TRUST_PROXY: '1' },
  ];
  for (const environment of exposed) {
    const good = { API_TOKEN: long, READ_TOKENS: `${long}r,${long}s`, INGEST_TOKENS: `${long}i` };
    expect(problemsOf({ ...environment, ...good })).toEqual([]);
    expect(problemsOf({ ...environment, API_TOKEN: short.slice(2), ...lists })).toEqual(
      ['API_TOKEN', 'READ_TOKENS', 'INGEST_TOKENS', 'CORRECT_TOKENS'].map((name) =>
        expect.stringMatching(`\\b${name} must have 16 characters or more.*openssl rand -base64 32`),
      ),
    );
  }
  expect(problemsOf({ API_TOKEN: short.slice(2), ...lists })).toEqual([]);

  const broker = { MQTT_HOST: '::', TLS_ELSEWHERE: 'true', MQTT_AUTH: 'true', MQTT_USERNAME: 'u' };
  expect(problemsOf({ ...broker, MQTT_PASSWORD: long })).toEqual([]);
  expect(problemsOf({ ...broker, MQTT_PASSWORD: short })).toEqual([
    expect.stringMatching('^MQTT_PASSWORD must have 16 characters or more when MQTT_HOST'),
  ]);
  // An external broker has its own rules for passwords.
  expect(problemsOf({ ...broker, MQTT_URL: 'mqtts://broker', MQTT_PASSWORD: short })).toEqual([]);
});

test('Settings: wrong combinations: one token in two scopes is refused', () => {
  const both = (one: string, other: string) =>
    `${one} must not hold a token that is in ${other}: each token has one scope`;
  expect(problemsOf({ API_TOKEN: 'a', READ_TOKENS: 'b,a', INGEST_TOKENS: 'c, b' })).toEqual([
    both('READ_TOKENS', 'API_TOKEN'),
    both('INGEST_TOKENS', 'READ_TOKENS'),
  ]);
  expect(problemsOf({ API_TOKEN: 'a', INGEST_TOKENS: 'a' })).toEqual([both('INGEST_TOKENS', 'API_TOKEN')]);
  expect(problemsOf({ INGEST_TOKENS: 'a', CORRECT_TOKENS: 'a' })).toEqual([
    both('CORRECT_TOKENS', 'INGEST_TOKENS'),
  ]);
  expect(problemsOf({ API_TOKEN: 'a', READ_TOKENS: 'b,b', INGEST_TOKENS: 'c' })).toEqual([]);
});

test.each([
  ['CQL_CONTACT_POINTS', 'db.example:9042', 'CQL_TLS_CA must be set when CQL_PASSWORD is sent to a database'],
  ['CQL_CONTACT_POINTS', '127.0.0.1,[2001:db8::1]', 'CQL_TLS_CA must be set'],
  ['MQTT_URL', 'mqtt://192.0.2.1:1883', 'MQTT_URL must be mqtts:// when MQTT_PASSWORD is sent to a broker'],
])('Settings: password without TLS to a remote server, %s=%s: refused', (name, value, message) => {
  const far = { [name]: value, [`${name.slice(0, name.indexOf('_'))}_USERNAME`]: 'u' };
  const environment = { ...far, [`${name.slice(0, name.indexOf('_'))}_PASSWORD`]: 'p' };
  expect(problemsOf(environment)).toEqual([expect.stringContaining(message)]);
  expect(problemsOf({ ...environment, TLS_ELSEWHERE: 'true' })).toEqual([]);
  expect(problemsOf({ [name]: value })).toEqual([]);
  expect(problemsOf({ ...environment, CQL_TLS_CA: file('far.pem', 'PEM'), MQTT_URL: 'mqtts://b' })).toEqual(
    [],
  );
});

test('Settings: API_TOKEN with http:// in API_URL: refused beyond loopback', () => {
  const far = { API_URL: 'http://192.0.2.1:8080', API_TOKEN: 'a-token' };
  expect(problemsOf(far)).toEqual([
    expect.stringContaining('API_URL must be https:// when API_TOKEN is sent to an API'),
  ]);
  expect(problemsOf({ ...far, TLS_ELSEWHERE: 'true' })).toEqual([]);
  expect(problemsOf({ ...far, API_URL: 'http://[::1]:8080' })).toEqual([]);
  expect(problemsOf({ ...far, API_URL: 'https://192.0.2.1' })).toEqual([]);
  expect(problemsOf({ API_URL: far.API_URL })).toEqual([]);
});

test('Settings: wrong combinations: a certificate without a key, or a key without a certificate, is refused', () => {
  const pem = file('half.pem', 'PEM');
  expect(problemsOf({ HTTP_TLS_CERT: pem, MQTT_TLS_KEY: pem })).toEqual([
    'MQTT_TLS_CERT must be set when MQTT_TLS_KEY is set',
    'HTTP_TLS_KEY must be set when HTTP_TLS_CERT is set',
  ]);
});

test('Settings: wrong combinations: MQTT_TLS_CA with mqtt:// is refused, because the connection would be unencrypted', () => {
  const MQTT_TLS_CA = file('ca.pem', 'PEM');
  const expected = ['MQTT_URL must be mqtts:// when MQTT_TLS_CA is set'];
  expect(problemsOf({ MQTT_TLS_CA, MQTT_URL: 'mqtt://broker.example' })).toEqual(expected);
  expect(problemsOf({ MQTT_TLS_CA, MQTT_URL: 'mqtts://broker.example' })).toEqual([]);
});

test('Settings: wrong combinations: several problems are reported at once, without follow-up errors of invalid values', () => {
  expect(
    problemsOf({
      ROLE: 'ingest',
      HTTP_PORT: 'x',
      LOG_LEVEL: 'loud',
      MQTT_URL: 'nowhere',
      CURSOR_SECRET: 's',
    }),
  ).toEqual([
    'MQTT_URL must be mqtt://host:port or mqtts://host:port, without user, password and path',
    'HTTP_PORT must be a whole number from 0 to 65535',
    'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal',
    'CQL_CONTACT_POINTS must be set when ROLE is ingest',
  ]);
});

test('Settings: secrets in files: the secret is read without the line break at its end', () => {
  const API_TOKEN_FILE = file('token', ' to ken \n');
  expect(readSettings({ API_TOKEN_FILE }, NONE).http.apiToken).toBe(' to ken ');
});

test('Settings: secrets in files: a missing or empty file is reported with the name of the setting', () => {
  const CQL_PASSWORD_FILE = join(folder, 'nowhere');
  const API_TOKEN_FILE = file('empty', '\n');
  expect(problemsOf({ CQL_PASSWORD_FILE, API_TOKEN_FILE })).toEqual([
    expect.stringMatching(/^CQL_PASSWORD_FILE cannot be read: ENOENT/),
    `API_TOKEN_FILE names a file that holds nothing: ${API_TOKEN_FILE}`,
  ]);
});

test('Settings: secrets in files: API_TOKEN and API_TOKEN_FILE are both set: refused', () => {
  const API_TOKEN_FILE = file('second', 'b');
  expect(problemsOf({ API_TOKEN: 'a', API_TOKEN_FILE })).toEqual([
    'API_TOKEN_FILE is set together with API_TOKEN; remove one of them',
  ]);
});

test('Settings: secrets in files: every setting of a secret also exists with the suffix _FILE', () => {
  const secrets = Object.entries(ALL_SETTINGS).filter(([, { secret }]) => secret);
  expect(secrets.map(([name]) => name)).toEqual(
    expect.arrayContaining(['CQL_PASSWORD', 'READ_TOKENS', 'CURSOR_SECRET']),
  );
  for (const [name] of secrets) expect(EXAMPLE).toContain(`${name}_FILE`);
});

test('Settings: .env: a setting is missing in the environment: the value in .env is used', () => {
  const envFile = file('both.env', 'HTTP_PORT=1\nMQTT_PORT=2\n');
  const config = readSettings({ HTTP_PORT: '3' }, { envFile });
  expect([config.http.port, config.mqtt.port]).toEqual([3, 2]);
});

test('Settings: .env: the file is in UTF-16, as PowerShell writes it: read', () => {
  const envFile = file('utf16.env', '');
  writeFileSync(envFile, Buffer.from('\ufeffHTTP_PORT=1\r\n', 'utf16le'));
  expect(readSettings({}, { envFile }).http.port).toBe(1);
});

test('Settings: .env: a setting is empty in the environment: the empty value overrides .env', () => {
  const envFile = file('silenced.env', 'HTTP_PORT=1\n');
  expect(readSettings({ HTTP_PORT: '' }, { envFile }).http.port).toBe(8080);
});

test('Settings: .env: the file cannot be read: the error names the reason', () => {
  expect(() => readSettings({}, { envFile: folder })).toThrow(/cannot be read: .*EISDIR/);
});

const kafka = { STREAM_KAFKA: 'kafka.example', STREAM_USERNAME: 'millrace', STREAM_PASSWORD: 'secret' };

test('Settings: a setting of the core is invalid: no rule of a feature reports it as missing', () =>
  expect(problemsOf({ ...kafka, TLS_ELSEWHERE: 'yes' }, [KAFKA_SETTINGS])).toEqual([
    'TLS_ELSEWHERE must be true or false',
  ]));

test('Settings: a feature reads its invalid settings twice: both reads fail', () => {
  const config = readSettings({ STREAM_FORMAT: 'xml' }, NONE);
  for (let read = 0; read < 2; read++)
    expect(() => config.of(KAFKA_SETTINGS)).toThrow('STREAM_FORMAT must be one of');
});

test('.env.example: npm run docs:reference: the output equals the file', () =>
  expect(EXAMPLE).toBe(envExample(SETTINGS_GROUPS)));

test('Settings: .env.example: all settings are listed with their defaults, in order', () => {
  const listed = [...EXAMPLE.matchAll(/^# .+\n#([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(listed).toEqual(Object.entries(ALL_SETTINGS).map(([name, { fallback }]) => [name, fallback ?? '']));
});

test('Settings: descriptions: each setting has its allowed values and its purpose', () => {
  for (const setting of Object.values(ALL_SETTINGS))
    expect(setting).toMatchObject({
      values: expect.stringMatching(/^\w/),
      help: expect.stringMatching(/^[A-Z].*\.$/),
    });
});
