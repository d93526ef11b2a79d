import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SERVICE_ROUTES } from '../../api/http/routes/index.js';
import { SETTINGS } from '../../common/settings-table.js';
import { buildAll } from '../support/kubernetes/build.js';
import { find } from '../support/kubernetes/resources.js';
import {
  containerOf,
  environmentOf,
  ourWorkloads,
  secretFilesOf,
  settingsOf,
} from '../support/kubernetes/workloads.js';

// What the manifests for Kubernetes say of the application is what the application is.

const INSTALLS_MS = 240_000;

/** @type {import('../support/kubernetes/build.js').Builds} */
let builds;
/** @type {ReturnType<typeof ourWorkloads>} */
let workloads;
beforeAll(async () => {
  builds = await buildAll();
  workloads = ourWorkloads(builds);
}, INSTALLS_MS);
afterAll(() => builds?.remove());

/** @param {string} pattern of the workload's name */
const named = (pattern) => workloads.filter(({ workload }) => workload.metadata.name.match(pattern));

/** @param {import('../support/kubernetes/workloads.js').Workload} process */
const settings = (process) => settingsOf(builds, process);

test('every process is given settings that the application knows and accepts', () => {
  expect(workloads.length).toBeGreaterThanOrEqual(5);
  const known = Object.entries(SETTINGS).flatMap(([key, { secret }]) =>
    secret ? [key, `${key}_FILE`] : [key],
  );
  for (const one of workloads) {
    const names = Object.keys(environmentOf(one.beside, one.workload));
    expect([one.where, names.filter((name) => !known.includes(name))]).toEqual([one.where, []]);
    expect(settings(one).cql.contactPoints).not.toHaveLength(0);
  }
});

test('no process is given a secret but as a file, of a Secret that the generator makes', () => {
  for (const { where, workload, beside } of workloads) {
    const mounted = secretFilesOf(workload);
    for (const { secret, key } of mounted.values())
      expect([where, find(beside, `Secret/${secret}`).data]).toEqual([
        where,
        expect.objectContaining({ [key]: expect.any(String) }),
      ]);
    const environment = environmentOf(beside, workload);
    for (const [name, value] of Object.entries(environment)) {
      expect([where, name, SETTINGS[name]?.secret ?? false]).toEqual([where, name, false]);
      if (name.endsWith('_FILE'))
        expect([where, [...mounted.keys()]]).toEqual([where, expect.arrayContaining([value])]);
    }
    // And each is one that the process reads.
    const read = [
      ...Object.values(environment),
      ...containerOf(workload).command.map((/** @type {string} */ word) => word.replace(/^.*=/, '')),
    ];
    expect([where, [...mounted.keys()].filter((file) => !read.includes(file))]).toEqual([where, []]);
  }
});

test('the superuser makes two roles, and each process has the one that it needs, with the password it was made with', () => {
  for (const { workload } of named('^millrace-roles$')) {
    const flags = containerOf(workload).command;
    expect(flags).toContain('--migrate-password-file=/run/secrets/millrace/cql_migrate_password');
    expect(flags).toContain('--serve-password-file=/run/secrets/millrace/cql_serve_password');
  }
  const roleOf = Object.fromEntries(
    workloads.map(({ workload, beside }) => {
      const { CQL_USERNAME, CQL_PASSWORD_FILE } = environmentOf(beside, workload);
      return [workload.metadata.name, [CQL_USERNAME, String(CQL_PASSWORD_FILE).split('/').at(-1)]];
    }),
  );
  expect(roleOf).toEqual({
    'millrace-roles': ['millrace', 'cql_password'],
    'millrace-migrate': ['millrace_migrate', 'cql_migrate_password'],
    'millrace-drain-ORDINAL': ['millrace_serve', 'cql_serve_password'],
    'millrace-ingest': ['millrace_serve', 'cql_serve_password'],
    'millrace-http': ['millrace_serve', 'cql_serve_password'],
    'millrace-sparkplug': ['millrace_serve', 'cql_serve_password'],
  });
});

describe('commands', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  /** @param {string} script of package.json @returns {string[]} its words, without settings and exec */
  const wordsOf = (script) => scripts[script].replace(/^(ROLE=\w+ )?exec /, '').split(' ');

  test.each([
    ['millrace-ingest', 'start'],
    ['millrace-sparkplug', 'start'],
    ['millrace-http', 'start:http'],
    ['millrace-roles', 'roles'],
    ['millrace-migrate', 'migrate'],
  ])('%s runs what npm run %s runs', (name, script) => {
    for (const { workload } of named(`^${name}$`)) {
      const { command } = containerOf(workload);
      expect(command.slice(0, wordsOf(script).length)).toEqual(wordsOf(script));
      expect(existsSync(command.find((/** @type {string} */ word) => word.endsWith('.js')))).toBe(true);
    }
  });

  test('an ingest process has the client id of its pod, and is drained by it', () => {
    for (const one of named('^millrace-(ingest|http|sparkplug)$'))
      expect(settings(one).mqtt.clientId).toBe(`${one.workload.metadata.name}-0`);
    for (const one of named('^millrace-drain')) {
      expect(containerOf(one.workload).command).toEqual(['node', 'api/index.js', '--drain']);
      expect(settings(one)).toMatchObject({
        role: 'ingest',
        mqtt: { clientId: 'millrace-ingest-ORDINAL' },
      });
      expect(one.workload.spec.podFailurePolicy.rules[0].onExitCodes.values).toContain(64);
    }
  });
});

test('one process takes Sparkplug where the overlay says so, and elsewhere none', () => {
  // Jobs take nothing.
  const taking = workloads.filter((one) => one.workload.kind !== 'Job' && settings(one).sparkplug);
  expect(taking.map(({ where }) => where)).toEqual(['overlays/sparkplug StatefulSet/millrace-sparkplug']);
  expect(taking[0]?.workload.spec.replicas).toBe(1);
});

test('probes ask routes that are there, on the port that it listens on', () => {
  const routes = SERVICE_ROUTES.filter(({ method }) => method === 'get').map(({ path }) => path);
  for (const one of named('^millrace-(ingest|http|sparkplug)$')) {
    const { startupProbe, livenessProbe, readinessProbe, ports } = containerOf(one.workload);
    const { http } = settings(one);
    expect(ports).toEqual([{ name: 'http', containerPort: http.port }]);
    expect(http.host).toBe('0.0.0.0');
    const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    for (const { path, port, scheme = 'HTTP' } of asked) {
      expect(routes).toContain(path);
      expect([port, scheme]).toEqual(['http', http.tls ? 'HTTPS' : 'HTTP']);
    }
    // Restarted is only who is dead: a database that is away is not mended by it.
    expect(asked.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
  }
});

test('the generator makes every secret that make.sh writes, and holds none itself', () => {
  const made = builds.secrets.flatMap(({ data }) => Object.values(data));
  for (const name of readdirSync(builds.secretFiles)) {
    const text = readFileSync(join(builds.secretFiles, name), 'utf8');
    expect([name, made.includes(text) || made.includes(Buffer.from(text).toString('base64'))]).toEqual([
      name,
      true,
    ]);
  }
});
