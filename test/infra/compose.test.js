import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SETTINGS } from '../../common/settings/index.js';
import { INSTALLS_MS, loadCompose } from '../support/compose.js';

// What holds for every service of docker-compose.yml, whatever its profile.

const run = promisify(execFile);
const SCRIPTS = ['init.sh', 'smoke.sh', 'scylla-start.sh', 'mosquitto-start.sh'].map(
  (name) => `infra/compose/${name}`,
);
/** They end when they are done. */
const ONCE = ['roles', 'migrate'];
/** Of what init.sh writes, what no container gets. */
const KEPT_HERE = ['ca.key', 'server.cnf'];

/** @type {Awaited<ReturnType<typeof loadCompose>>} */
let stand;
beforeAll(async () => {
  stand = await loadCompose();
}, INSTALLS_MS);
afterAll(() => stand.remove());

describe('linters', () => {
  test('the compose file is what the compose specification allows', async () => {
    const args = ['--builtin-schema', 'vendor.compose-spec', 'docker-compose.yml'];
    await run(stand.python.program('check-jsonschema'), args);
  });

  test('hadolint finds nothing in the Dockerfile', async () => {
    await run(stand.python.program('hadolint'), ['--failure-threshold', 'style', 'Dockerfile']);
  });

  test('shellcheck (Debian: apt-get install shellcheck) finds nothing in the scripts', async () => {
    await run('shellcheck', SCRIPTS);
  });
});

describe('every service', () => {
  test('publishes its ports on loopback; those with TLS alone may be let beyond', () => {
    const ports = stand.services.flatMap(([, service]) => service.ports ?? []);
    expect(ports).toHaveLength(7);
    for (const port of ports) {
      const address = /:(8883|8443)$/.test(port) ? '\\$\\{TLS_ADDRESS:-127.0.0.1\\}' : '127.0.0.1';
      expect(port).toMatch(new RegExp(`^${address}:\\$\\{[A-Z_]+:-\\d+\\}:\\d+$`));
    }
  });

  test('has an image of a full version', () => {
    const images = stand.services.map(([, service]) => service.image);
    const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+:\S+)/gm)];
    expect(bases).toHaveLength(1);
    for (const image of [...images, ...bases.map((match) => match[1])]) {
      expect(image).toMatch(/:(v?\d+\.\d+\.\d+(-[a-z-]+)?|local)$/);
    }
  });

  test('is bounded in memory, processes and log, and says how it is, or ends', () => {
    for (const [name, service] of stand.services) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({ mem_limit: expect.any(String), pids_limit: expect.any(Number) }),
      ]);
      expect(service.logging.options).toMatchObject({ 'max-size': '10m', 'max-file': '3' });
      const tells = Boolean(service.healthcheck);
      expect([name, tells]).toEqual([name, !ONCE.includes(name) && name !== 'simulator']);
    }
  });

  test('is started again for as long as it takes; what ends when it is done is tried a few times', () => {
    for (const [name, { restart }] of stand.services)
      expect([name, restart]).toEqual([name, ONCE.includes(name) ? 'on-failure:5' : 'unless-stopped']);
  });

  test('but the database has no right that it does not need, and no file system to write to', () => {
    for (const [name, service] of stand.services) {
      if (name.startsWith('scylla')) continue;
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          read_only: true,
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
        }),
      ]);
    }
  });

  test('waits for what it needs to be healthy, or done', () => {
    const { services } = stand.compose;
    for (const [name, { depends_on: needs = {} }] of stand.services) {
      for (const [needed, { condition }] of Object.entries(/** @type {Record<string, any>} */ (needs))) {
        const expected = ONCE.includes(needed) ? 'service_completed_successfully' : 'service_healthy';
        // Nobody waits for Loki: without it, only what is read in it is missing.
        expect([name, needed, condition]).toEqual([
          name,
          needed,
          needed === 'loki' ? 'service_started' : expected,
        ]);
        expect(ONCE.includes(needed) || services[needed].healthcheck).toBeTruthy();
      }
    }
  });

  test('keeps its data in a volume of its own, and mounts files that are there', () => {
    const mounts = stand.services.flatMap(([, service]) => service.volumes ?? []);
    const volumes = mounts.map((mount) => mount.split(':')[0]).filter((from) => /^\w/.test(from));
    expect(volumes.sort()).toEqual(Object.keys(stand.compose.volumes).sort());
    for (const mount of mounts.filter((each) => each.startsWith('.'))) {
      const [from, , mode] = mount.split(':');
      expect([mount, existsSync(from), mode]).toEqual([mount, true, 'ro']);
    }
  });
});

describe('secrets', () => {
  test('are in no environment, but their files are', () => {
    for (const [name, { environment = {} }] of stand.services) {
      for (const [key, value] of Object.entries(environment)) {
        const secret = SETTINGS[key.replace(/_FILE$/, '')]?.secret ?? /PASSWORD|TOKEN|SECRET/.test(key);
        expect({ name, key, secret: secret && !key.endsWith('_FILE') }).toEqual({ name, key, secret: false });
        if (secret) expect(value).toMatch(/^\/run\/secrets\/\w+$/);
      }
    }
    for (const { file } of Object.values(stand.compose.secrets)) {
      expect(file).toMatch(/^\.\/infra\/compose\/secrets\//);
    }
  });

  test('are handed to no program as an argument: the list of processes shows those', () => {
    for (const [name, { healthcheck, command, entrypoint }] of stand.services) {
      expect([name, JSON.stringify([healthcheck, command, entrypoint])]).toEqual([
        name,
        expect.not.stringMatching(/\$\(|(?<!-file=)\/run\/secrets/),
      ]);
    }
  });

  test('are mounted where they are read, and each is one that init.sh writes', () => {
    for (const [, service] of stand.services) {
      const text = JSON.stringify([service.environment, service.healthcheck, service.command]);
      const read = [...text.matchAll(/\/run\/secrets\/(\w+)/g)].map((match) => match[1]);
      expect(service.secrets ?? []).toEqual(expect.arrayContaining(read));
    }
    const files = Object.keys(stand.compose.secrets).map((name) => basename(stand.secretFile(name)));
    expect([...files, ...KEPT_HERE].sort()).toEqual(readdirSync(stand.secrets).sort());
  });
});
