import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SERVICE_ROUTES } from '../../api/http/routes/index.js';
import { SETTINGS } from '../../common/settings/index.js';
import { buildAll } from '../support/kubernetes/build.js';
import { containerOf, environmentOf, ourWorkloads, settingsOf } from '../support/kubernetes/workloads.js';

/** @import { Builds } from '../support/kubernetes/build.js' */
/** @import { Workload } from '../support/kubernetes/workloads.js' */

// What the manifests for Kubernetes say of the application is what the application is.

const INSTALLS_MS = 240_000;

/** @type {Builds} */
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

/** @param {Workload} process */
const settings = (process) => settingsOf(builds, process);

test('every process is given settings that the application knows and accepts', () => {
  expect(workloads.length).toBeGreaterThanOrEqual(5);
  const known = Object.entries(SETTINGS).flatMap(([key, { secret }]) =>
    secret ? [key, `${key}_FILE`] : [key],
  );
  for (const one of workloads) {
    const names = Object.keys(environmentOf(one.applied, one.workload));
    expect([one.where, names.filter((name) => !known.includes(name))]).toEqual([one.where, []]);
    expect(settings(one).cql.contactPoints).not.toHaveLength(0);
  }
});

test('all have the same of what the migration stores, where the reader sets the rest', () => {
  for (const name of ['LATEST_GROUPS', 'BATCH_DAYS', 'HISTORY_DAYS']) {
    const values = workloads.map((one) => environmentOf(one.applied, one.workload)[name]);
    expect([name, ...new Set(values)]).toEqual([name, SETTINGS[name]?.fallback]);
    expect(readFileSync('docs/how-to/deploy-to-kubernetes.md', 'utf8')).toContain(`\`${name}\``);
  }
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
      expect(containerOf(one.workload).command).toEqual(['node', 'api/index.js', '--drain', '--or-none']);
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
