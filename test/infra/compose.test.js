import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSettings } from '../../common/settings.js';
import { SETTINGS } from '../../common/settings-table.js';
import { ensurePython, readYaml } from '../../infra/python/ensure.js';

// No container engine runs here: files are checked against schemas and linters, what they say against the application.

const run = promisify(execFile);
const COMPOSE = 'docker-compose.yml';
const SCRIPTS = ['init.sh', 'scylla-start.sh', 'mosquitto-start.sh'].map((name) => `infra/compose/${name}`);
const OURS = ['api', 'roles', 'migrate', 'simulator'];
/** Of them, those that know no broker. */
const OF_THE_DATABASE = ['roles', 'migrate'];
const INSTALLS_MS = 180_000;

/** @type {import('../../infra/python/ensure.js').PythonTools} */
let python;
/** @type {any} */
let compose;
/** @type {string} */
let secrets;

beforeAll(async () => {
  python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  compose = await readYaml(python, COMPOSE);
  secrets = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  await run('/bin/sh', ['infra/compose/init.sh', secrets]);
}, INSTALLS_MS);

afterAll(() => rmSync(secrets, { recursive: true, force: true }));

/** @returns {[string, any][]} */
const services = () => Object.entries(compose.services);

/** @param {string} path in a container, `/run/secrets/NAME` @returns {string} the file that is mounted there */
const secretFile = (path) => join(secrets, basename(compose.secrets[basename(path)].file));

describe('linters', () => {
  test('the compose file is what the compose specification allows', async () => {
    await run(python.program('check-jsonschema'), ['--builtin-schema', 'vendor.compose-spec', COMPOSE]);
  });

  test('hadolint finds nothing in the Dockerfile', async () => {
    await run(python.program('hadolint'), ['--failure-threshold', 'style', 'Dockerfile']);
  });

  test('shellcheck (Debian: apt-get install shellcheck) finds nothing in the scripts', async () => {
    await run('shellcheck', SCRIPTS);
  });
});

describe('docker-compose.yml', () => {
  test('publishes ports on loopback only', () => {
    const ports = services().flatMap(([, service]) => service.ports ?? []);
    expect(ports).toHaveLength(2);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{[A-Z_]+:-\d+\}:\d+$/);
  });

  test('pins every image to a full version', () => {
    const images = services().map(([, service]) => service.image);
    const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+:\S+)/gm)].map(
      (match) => match[1],
    );
    expect(bases).toHaveLength(1);
    for (const image of [...images, ...bases]) expect(image).toMatch(/:(\d+\.\d+\.\d+(-[a-z-]+)?|local)$/);
  });

  test('holds no secret, and gives none by the environment', () => {
    for (const [name, { environment = {} }] of services()) {
      for (const [key, value] of Object.entries(environment)) {
        const setting = SETTINGS[key.replace(/_FILE$/, '')];
        const secret = setting?.secret ?? false;
        expect({ name, key, secret: secret && !key.endsWith('_FILE') }).toEqual({ name, key, secret: false });
        if (secret) expect(value).toMatch(/^\/run\/secrets\/\w+$/);
      }
    }
    for (const { file } of Object.values(compose.secrets))
      expect(file).toMatch(/^\.\/infra\/compose\/secrets\//);
  });

  test('hands no secret to a program as an argument: the list of processes shows those', () => {
    for (const [name, { healthcheck, command, entrypoint }] of services()) {
      expect([name, JSON.stringify([healthcheck, command, entrypoint])]).toEqual([
        name,
        expect.not.stringMatching(/\$\(|(?<!-file=)\/run\/secrets/),
      ]);
    }
  });

  test('mounts the secrets that each service reads, and each is one that init.sh writes', () => {
    for (const [, service] of services()) {
      const text = JSON.stringify([service.environment, service.healthcheck, service.command]);
      const read = [...text.matchAll(/\/run\/secrets\/(\w+)/g)].map((match) => match[1]);
      expect(service.secrets ?? []).toEqual(expect.arrayContaining(read));
    }
    const written = readdirSync(secrets).sort();
    expect(
      Object.keys(compose.secrets)
        .map((name) => basename(secretFile(name)))
        .sort(),
    ).toEqual(written);
  });

  test.each(OURS)('gives %s settings that the application knows and accepts', (name) => {
    const { environment } = compose.services[name];
    const known = Object.keys(SETTINGS).flatMap((key) =>
      SETTINGS[key]?.secret ? [key, `${key}_FILE`] : [key],
    );
    expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));

    const here = Object.entries(environment).map(([key, value]) => [
      key,
      key.endsWith('_FILE') ? secretFile(String(value)) : value,
    ]);
    const config = readSettings(Object.fromEntries(here), { envFile: join(secrets, 'none') });
    if (name !== 'simulator')
      expect(config.cql).toMatchObject({ contactPoints: ['scylla'], localDc: 'datacenter1' });
    if (!OF_THE_DATABASE.includes(name)) expect(config.mqtt).toMatchObject({ url: 'mqtt://mosquitto:1883' });
    if (name === 'api') expect(config.http.apiToken).toMatch(/^[0-9a-f]{48}$/);
  });

  test.each([
    ['api', 'start'],
    ['roles', 'roles'],
    ['migrate', 'migrate'],
    ['simulator', 'simulator'],
  ])('runs %s by the command of npm run %s', (name, script) => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(
      `${compose.services[name].command.join(' ')} `.startsWith(`${scripts[script].replace('exec ', '')} `),
    ).toBe(true);
    const program = compose.services[name].command.find((/** @type {string} */ part) => part.endsWith('.js'));
    expect(existsSync(program)).toBe(true);
  });

  test('makes two roles by a superuser, and gives each the password that it was made with', () => {
    const flags = compose.services.roles.command.join(' ');
    for (const [name, duty] of [
      ['migrate', 'migrate'],
      ['api', 'serve'],
    ]) {
      const { CQL_USERNAME, CQL_PASSWORD_FILE } = compose.services[String(name)].environment;
      expect(CQL_USERNAME).toBe(`millrace_${duty}`);
      expect(flags).toContain(`--${duty}-password-file=${CQL_PASSWORD_FILE}`);
    }
  });

  test('lets a single database node sync its commit log before it acknowledges', () => {
    expect(compose.services.scylla.command).toContain('--commitlog-sync=batch');
  });
});
