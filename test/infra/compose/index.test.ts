import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import { useStarted } from '../../support/clean-ups.ts';
import { INSTALLS_MS, loadCompose } from '../../support/compose/index.ts';

// Rules for every service of docker-compose.yml, in every profile.

const run = promisify(execFile);
const ONCE = ['roles', 'migrate'];
/** Files of init.sh that no container gets. */
const HOST_FILES = ['ca.key', 'server.cnf'];

const stack = useStarted(loadCompose, ({ remove }) => remove(), INSTALLS_MS);

test('docker-compose.yml: schema of the Compose specification: no violation', async () => {
  const args = ['--builtin-schema', 'vendor.compose-spec', 'docker-compose.yml'];
  await run(stack.python.program('check-jsonschema'), args);
});

test('Dockerfile: hadolint: finds no problem', async () => {
  await run(stack.python.program('hadolint'), ['--failure-threshold', 'style', 'Dockerfile']);
});

test('Compose services: published ports: only on loopback; only TLS ports may have another address', () => {
  const ports = stack.services.flatMap(([, service]) => service.ports ?? []);
  expect(ports).toHaveLength(8);
  for (const port of ports) {
    const address = /:(8883|8443)$/.test(port) ? '\\$\\{TLS_ADDRESS:-127.0.0.1\\}' : '127.0.0.1';
    expect(port).toMatch(new RegExp(`^${address}:\\$\\{[A-Z_]+:-\\d+\\}:\\d+$`));
  }
});

test('Compose services: dependencies: a service starts after each dependency is healthy or has ended with success', () => {
  const { services } = stack.compose;
  for (const [name, { depends_on: needs = {} }] of stack.services) {
    for (const [needed, { condition }] of Object.entries(needs)) {
      const expected = ONCE.includes(needed) ? 'service_completed_successfully' : 'service_healthy';
      // No service waits until Loki is healthy, because only its own logs are missing without it.
      expect([name, needed, condition]).toEqual([
        name,
        needed,
        needed === 'loki' ? 'service_started' : expected,
      ]);
      expect(ONCE.includes(needed) || services[needed].healthcheck).toBeTruthy();
    }
  }
});

test('Compose services: volumes: no two services share a volume; mounted files exist, and are read-only', () => {
  const mounts = stack.services.flatMap(([, service]) => service.volumes ?? []);
  const volumes = mounts.map((mount) => String(mount.split(':')[0])).filter((from) => /^\w/.test(from));
  expect(volumes.sort()).toEqual(Object.keys(stack.compose.volumes).sort());
  for (const mount of mounts.filter((path) => path.startsWith('.'))) {
    const [from, , mode] = mount.split(':');
    expect([mount, existsSync(String(from)), mode]).toEqual([mount, true, 'ro']);
  }
});

test('Compose secrets: environment of the services: contains paths of secret files, and never a secret', () => {
  for (const [name, { environment = {} }] of stack.services) {
    for (const [key, value] of Object.entries(environment)) {
      const secret = ALL_SETTINGS[key.replace(/_FILE$/, '')]?.secret ?? /PASSWORD|TOKEN|SECRET/.test(key);
      expect({ name, key, secret: secret && !key.endsWith('_FILE') }).toEqual({ name, key, secret: false });
      if (secret) expect(value).toMatch(/^\/run\/secrets\/\w+$/);
    }
  }
  for (const { file } of Object.values<{ file: string }>(stack.compose.secrets)) {
    expect(file).toMatch(/^\.\/infra\/compose\/secrets\//);
  }
});

test('Compose secrets: arguments of programs: contain no secret, because the process list shows arguments', () => {
  for (const [name, { healthcheck, command, entrypoint }] of stack.services) {
    expect([name, JSON.stringify([healthcheck, command, entrypoint])]).toEqual([
      name,
      expect.not.stringMatching(/\$\(|(?<!-file=)\/run\/secrets/),
    ]);
  }
});

test('Compose secrets: secret files: each service mounts the files that it reads; init.sh writes every file', () => {
  for (const [, service] of stack.services) {
    const text = JSON.stringify([service.environment, service.healthcheck, service.command]);
    const read = [...text.matchAll(/\/run\/secrets\/(\w+)/g)].map((match) => match[1]);
    expect(service.secrets ?? []).toEqual(expect.arrayContaining(read));
  }
  const files = Object.keys(stack.compose.secrets).map((name) => basename(stack.secretFile(name)));
  expect([...files, ...HOST_FILES].sort()).toEqual(readdirSync(stack.secrets).sort());
});
