import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useStarted } from '../../support/clean-ups.ts';
import { INSTALLS_MS, interpolate, loadCompose } from '../../support/compose/index.ts';
import { commandOf } from '../../support/scripts.ts';

// Checks the services of docker-compose.yml that run programs of this repository against those programs.

const OURS = [
  ['api', 'start'],
  ['https', 'start:http'],
  ['roles', 'roles'],
  ['migrate', 'migrate'],
  ['simulator', 'simulator'],
];

const stack = useStarted(loadCompose, ({ remove }) => remove(), INSTALLS_MS);

/** @param variables of `.env` @returns the environment of a service, with paths of this machine */
const environmentOf = (name: string, variables?: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(stack.compose.services[name].environment).map(([key, value]) => [
      key,
      String(value).startsWith('/run/secrets/')
        ? stack.secretFile(String(value))
        : interpolate(value, variables),
    ]),
  );

const settingsFrom = (environment: Record<string, string>) =>
  readSettings(environment, { envFile: join(stack.secrets, 'none') });

test.each(OURS)('Compose service %s: environment: the application accepts every setting', (name) => {
  const known = Object.keys(ALL_SETTINGS).flatMap((key) =>
    ALL_SETTINGS[key]?.secret ? [key, `${key}_FILE`] : [key],
  );
  const environment = environmentOf(name);
  expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
  settingsFrom(environment);
});

test('Compose: MQTT client ids of the processes: differ, so no process takes over the session of another process', () => {
  const ids = stack.services.flatMap(([, { environment }]) => environment?.['MQTT_CLIENT_ID'] ?? []);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(2);
});

test('Compose service https: connections to broker and database: use TLS; without a TLS setting the process refuses to start', () => {
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

test.each(OURS)('Compose service %s: command: the same program as npm run %s', (name, script) => {
  const words = commandOf(script);
  expect(stack.compose.services[name].command.slice(0, words.length)).toEqual(words);
  const program = stack.compose.services[name].command.find((word: string) => /\.[jt]s$/.test(word));
  expect(existsSync(program)).toBe(true);
});

test('Compose service roles: database roles: each process has the user name and the password file of its role', () => {
  const flags = stack.compose.services.roles.command.join(' ');
  for (const [name, duty] of [
    ['migrate', 'migrate'],
    ['api', 'serve'],
    ['https', 'serve'],
  ]) {
    const { CQL_USERNAME, CQL_PASSWORD_FILE } = stack.compose.services[String(name)].environment;
    expect(CQL_USERNAME).toBe(`millrace_${duty}`);
    expect(flags).toContain(`--${duty}-password-file=${CQL_PASSWORD_FILE}`);
  }
});
