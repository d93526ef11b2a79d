import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { ensurePython, type PythonTools, readYaml } from '../../../infra/python/ensure.ts';
import { useDirectory } from '../../support/directory.ts';

// Runs the scripts of infra/compose. broker.test.ts runs the start script of Mosquitto.

const run = promisify(execFile);
const INSTALLS_MS = 180_000;

let python: PythonTools;
const directory = useDirectory('scripts');
let secrets: string;

beforeAll(async () => {
  python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  secrets = join(directory, 'secrets');
  await run('/bin/sh', ['infra/compose/init.sh', secrets]);
}, INSTALLS_MS);

test('Compose init.sh: second run: no secret file changes; only the owner can read the directory', async () => {
  const before = readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'));
  await run('/bin/sh', ['infra/compose/init.sh', secrets]);
  expect(readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'))).toEqual(before);
  expect(new Set(before).size).toBe(before.length);
  expect(statSync(secrets).mode & 0o777).toBe(0o700);
});

test('Compose init.sh: superuser of ScyllaDB: its password hash matches the password that the service roles uses', async () => {
  const superuser = await readYaml(python, join(secrets, 'scylla_superuser.yaml'));
  const hash = superuser.auth_superuser_salted_password;
  const [, kind, salt] = hash.split('$');
  expect(kind).toBe('6');
  const password = readFileSync(join(secrets, 'cql_password'), 'utf8').trim();
  const { stdout } = await run('openssl', ['passwd', '-6', '-salt', salt, password]);
  expect(stdout.trim()).toBe(hash);
  const compose = await readYaml(python, 'docker-compose.yml');
  expect(superuser.auth_superuser_name).toBe(compose.services.roles.environment.CQL_USERNAME);
});

test('Compose scylla-start.sh: start of ScyllaDB: the scylla.yaml has the superuser and the certificate', async () => {
  const configuration = join(directory, 'scylla.yaml');
  const original = join(directory, 'original.yaml');
  writeFileSync(original, 'num_tokens: 256'); // Some files have no newline at their end.
  const env = {
    ...process.env,
    SCYLLA_YAML: original,
    SUPERUSER_YAML: join(secrets, 'scylla_superuser.yaml'),
    TLS_CERTIFICATE: join(secrets, 'server.pem'),
    TLS_KEY: join(secrets, 'server.key'),
    SCYLLA_ENTRYPOINT: '/bin/echo',
    CONFIGURATION: configuration,
    CQL_PASSWORD_FILE: join(secrets, 'cql_password'),
    CQLSH_CREDENTIALS: join(directory, 'cqlsh-credentials'),
  };
  const { stdout } = await run('/bin/sh', ['infra/compose/scylla-start.sh', '--smp=1'], { env });
  expect(stdout.trim()).toBe(`--smp=1 --options-file=${configuration}`);
  expect(await readYaml(python, configuration)).toMatchObject({
    num_tokens: 256,
    authenticator: 'PasswordAuthenticator',
    auth_superuser_name: 'millrace',
    client_encryption_options: { enabled: true, certificate: env.TLS_CERTIFICATE, keyfile: env.TLS_KEY },
  });
  const password = readFileSync(join(secrets, 'cql_password'), 'utf8').trim();
  expect(readFileSync(env.CQLSH_CREDENTIALS, 'utf8')).toBe(
    `[plain_text_auth]\nusername = millrace\npassword = ${password}\n`,
  );
  expect(statSync(env.CQLSH_CREDENTIALS).mode & 0o077).toBe(0);
});
