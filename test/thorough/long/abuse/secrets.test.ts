import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { readSettings } from '../../../../common/settings/index.ts';
import { sharedContactPoint, uniqueName } from '../../../support/database/engine.ts';
import { dropKeyspace } from '../../../support/database/keyspace.ts';
import { type ApiProcess, startApi, startCommand } from '../../../support/processes/api-process.ts';
import { until } from '../../../support/until.ts';

const SECRETS = {
  API_TOKEN: 'an-api-token-of-the-test',
  READ_TOKENS: 'a-read-token-of-the-test',
  INGEST_TOKENS: 'an-ingest-token-of-the-test',
  CURSOR_SECRET: 'a-cursor-secret-of-the-test',
  MQTT_PASSWORD: 'a-broker-password-of-the-test',
  CQL_PASSWORD: 'a-database-password-of-the-test',
};
/** Secrets that must not appear anywhere: the configured ones, and the wrong ones that clients try. */
const HIDDEN = [
  ...Object.values(SECRETS),
  'a-wrong-token-that-is-nearly-right',
  'a-wrong-password-of-a-device',
];

const settings = {
  ...SECRETS,
  CQL_CONTACT_POINTS: sharedContactPoint(),
  CQL_KEYSPACE: uniqueName('t'),
  CQL_USERNAME: 'cassandra',
  MQTT_AUTH: 'true',
  MQTT_USERNAME: 'installation',
  HTTP_PORT: '0',
  MQTT_PORT: '0',
  LATEST_GROUPS: '4',
  LOG_LEVEL: 'trace',
};

let api: ApiProcess;
beforeAll(async () => {
  const { code, output } = await startCommand('api/commands/migrate.ts', settings).ended;
  if (code !== 0) throw new Error(output);
  api = await startApi(settings);
});
afterAll(async () => {
  await api?.kill();
  await dropKeyspace(readSettings(settings, { envFile: '' }).cql);
});

const found = (text: string) => HIDDEN.filter((secret) => text.includes(secret));

test('Secrets: log at any level: contains no secret; a client id with line breaks adds no log line', async () => {
  const forged = 'x\n{"level":60,"msg":"forged"}\u001b[2J\r';
  const good = { username: 'installation', password: SECRETS.MQTT_PASSWORD, reconnectPeriod: 0 };
  await expect(
    mqtt.connectAsync(api.mqttUrl, { ...good, password: 'a-wrong-password-of-a-device', clientId: forged }),
  ).rejects.toThrow();
  const client = await mqtt.connectAsync(api.mqttUrl, { ...good, clientId: forged });
  client.on('error', () => {});
  await client.publishAsync('iot/v1/d/measurements', forged, { qos: 1 });
  await client.publishAsync('iot/v1/d/measurements', Buffer.alloc(2_000_000), { qos: 1 });
  await client.endAsync();
  await until(() => api.output().includes('over MAX_MESSAGE_BYTES'));

  const lines = api.output().split('\n').filter(Boolean);
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(JSON.parse(line).msg).not.toBe('forged');
  expect(api.output()).not.toMatch(/(?!\n)\p{Cc}/u);
  expect(found(api.output())).toEqual([]);
});

test.each([
  ['a wrong setting', { ...settings, HTTP_PORT: 'x' }],
  ['an unreachable database', { ...settings, CQL_CONTACT_POINTS: '127.0.0.1:1' }],
  [
    'a password in the broker URL',
    { ...settings, MQTT_URL: `mqtt://installation:${SECRETS.MQTT_PASSWORD}@127.0.0.1:1` },
  ],
  [
    'a URL with an unknown scheme',
    { ...settings, LOG_LEVEL: 'none', MQTT_URL: `x://${SECRETS.MQTT_PASSWORD}` },
  ],
])('Secrets: start fails because of %s: the output contains no secret', async (_, wrong) => {
  const command = startCommand('api/index.ts', wrong);
  // A process that retries has logged its error by then.
  await until(() => !command.running() || /"level":[456]0/.test(command.output()));
  await command.kill();
  expect(command.output()).not.toBe('');
  expect(found(command.output())).toEqual([]);
});
