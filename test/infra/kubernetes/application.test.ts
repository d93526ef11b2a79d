import { existsSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import * as service from '../../../api/http/routes/service.ts';
import { useBuilds } from '../../support/kubernetes/build.ts';
import {
  containerOf,
  environmentOf,
  ourWorkloads,
  settingsOf,
  type Workload,
} from '../../support/kubernetes/workloads.ts';
import { commandOf } from '../../support/scripts.ts';

// Checks the manifests for Kubernetes against the application.

const builds = useBuilds();
let workloads: ReturnType<typeof ourWorkloads>;
beforeAll(() => {
  workloads = ourWorkloads(builds);
});

/** @param pattern for the name of the workload */
const named = (pattern: string) => workloads.filter(({ workload }) => workload.metadata.name.match(pattern));

const settings = (entry: Workload) => settingsOf(builds, entry);

test('Kubernetes: environment of every process: the application knows and accepts every setting', () => {
  expect(workloads.length).toBeGreaterThanOrEqual(5);
  const known = Object.entries(ALL_SETTINGS).flatMap(([key, { secret }]) =>
    secret ? [key, `${key}_FILE`] : [key],
  );
  for (const entry of workloads) {
    const names = Object.keys(environmentOf(entry.applied, entry.workload));
    expect([entry.where, names.filter((name) => !known.includes(name))]).toEqual([entry.where, []]);
    expect(settings(entry).cql.contactPoints).not.toHaveLength(0);
  }
});

test.each([
  ['millrace-ingest', 'start'],
  ['millrace-sparkplug', 'start'],
  ['millrace-http', 'start:http'],
  ['millrace-roles', 'roles'],
  ['millrace-migrate', 'migrate'],
])('Kubernetes workload %s: command: the same program as npm run %s', (name, script) => {
  for (const { workload } of named(`^${name}$`)) {
    const { command } = containerOf(workload);
    const words = commandOf(script);
    expect(command.slice(0, words.length)).toEqual(words);
    expect(existsSync(command.find((word: string) => /\.[jt]s$/.test(word)))).toBe(true);
  }
});

test('Kubernetes: MQTT client id of a process: the name of the pod; the drain job uses the client id of the removed pod', () => {
  for (const entry of named('^millrace-(ingest|http|sparkplug)$'))
    expect(settings(entry).mqtt.clientId).toBe(`${entry.workload.metadata.name}-0`);
  for (const entry of named('^millrace-drain')) {
    expect(containerOf(entry.workload).command).toEqual(['node', 'api/index.ts', '--drain', '--or-none']);
    expect(settings(entry)).toMatchObject({
      role: 'ingest',
      mqtt: { clientId: 'millrace-ingest-ORDINAL' },
    });
    expect(entry.workload.spec.podFailurePolicy.rules[0].onExitCodes.values).toContain(64);
  }
});

test('Kubernetes: startup, liveness and readiness probes: request existing routes on the port of the process', () => {
  const routes = service.routes.filter(({ method }) => method === 'get').map(({ path }) => path);
  for (const entry of named('^millrace-(ingest|http|sparkplug)$')) {
    const { startupProbe, livenessProbe, readinessProbe, ports } = containerOf(entry.workload);
    const { http } = settings(entry);
    expect(ports).toEqual([{ name: 'http', containerPort: http.port }]);
    expect(http.host).toBe('0.0.0.0');
    const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    for (const { path, port, scheme = 'HTTP' } of probed) {
      expect(routes).toContain(path);
      expect([port, scheme]).toEqual(['http', http.tls ? 'HTTPS' : 'HTTP']);
    }
    // Only a dead process is restarted. A restart does not bring back a database that is unavailable.
    expect(probed.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
  }
});
