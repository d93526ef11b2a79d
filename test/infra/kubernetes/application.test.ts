import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import * as service from '../../../api/http/routes/service.ts';
import { KAFKA_SETTINGS } from '../../../schema/kafka/index.ts';
import { useBuilds } from '../../support/kubernetes/build.ts';
import { carries, nameOf } from '../../support/kubernetes/resources.ts';
import {
  containerOf,
  environmentOf,
  ourWorkloads,
  settingsOf,
  type Workload,
} from '../../support/kubernetes/workloads.ts';
import { commandOf } from '../../support/scripts.ts';

// Checks the manifests for Kubernetes against the application.

const run = promisify(execFile);

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

test('Kubernetes: number of groups and retention: every process has the defaults, and the how-to page names the settings', () => {
  for (const name of ['LATEST_GROUPS', 'BATCH_DAYS', 'HISTORY_DAYS']) {
    const values = workloads.map((entry) => environmentOf(entry.applied, entry.workload)[name]);
    expect([name, ...new Set(values)]).toEqual([name, ALL_SETTINGS[name]?.fallback]);
    expect(readFileSync('docs/how-to/deploy-to-kubernetes.md', 'utf8')).toContain(`\`${name}\``);
  }
});

describe('Kubernetes commands', () => {
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
});

test.each([
  'docs/how-to/deploy-to-kubernetes.md',
  'docs/how-to/operate-a-cluster.md',
  'infra/kubernetes/base/settings.yaml',
])('Kubernetes: restart command in %s: restarts all processes of Millrace, and no broker', (file) => {
  const [, kinds = '', label = ''] = /rollout restart (\S+) -l (\S+)/.exec(readFileSync(file, 'utf8')) ?? [];
  expect(kinds).toBe('statefulset,deployment');
  const [key = '', value = ''] = label.split('=');
  for (const [name, resources] of builds.built) {
    if (!name.startsWith('overlays/')) continue;
    const running = resources.filter(({ kind }) => ['StatefulSet', 'Deployment'].includes(kind));
    const ours = running.filter((resource) => containerOf(resource).name === 'millrace');
    expect(ours.length).toBeGreaterThanOrEqual(2);
    const restarted = running.filter(({ metadata }) => carries(metadata.labels, { [key]: value }));
    expect([name, restarted.map(nameOf)]).toEqual([name, ours.map(nameOf)]);
  }
});

test('Kubernetes jobs: Kafka settings of the how-to page are added: every job accepts the settings', () => {
  const page = readFileSync('docs/how-to/stream-to-kafka.md', 'utf8');
  const lines = page.matchAll(/^ +((?:STREAM|SCHEMA_REGISTRY)_\w+)=(\S+)$/gm);
  const added = Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
  expect(added).toMatchObject({ STREAM_USERNAME: 'millrace', SCHEMA_REGISTRY_USERNAME: 'millrace' });
  const jobs = workloads.filter(({ workload }) => workload.kind === 'Job');
  expect(new Set(jobs.map(({ workload }) => workload.metadata.name)).size).toBe(3);
  for (const entry of jobs) {
    const applied = entry.applied.map((resource) =>
      nameOf(resource) === 'ConfigMap/millrace-settings'
        ? { ...resource, data: { ...resource.data, ...added, STREAM_PARQUET: 's3://lake' } }
        : resource,
    );
    const stream = settings({ ...entry, applied }).of(KAFKA_SETTINGS);
    // The drain job commits messages, and notes them for the processes that send them to Kafka.
    expect([entry.where, stream.kafka, stream.username]).toEqual([
      entry.where,
      added.STREAM_KAFKA.split(','),
      undefined,
    ]);
  }
});

test('How-to page for Kafka: patches for Kubernetes: all three processes get the password file of Kafka', async () => {
  const page = readFileSync('docs/how-to/stream-to-kafka.md', 'utf8');
  const [, patches = ''] = /```yaml\n( +patches:.*?)```/s.exec(page) ?? [];
  const directory = mkdtempSync(join(tmpdir(), 'millrace-kafka-'));
  try {
    const overlay = relative(realpathSync(directory), 'infra/kubernetes/overlays/sparkplug');
    const text = `resources: [${overlay}]\n${patches.replaceAll(/^ {3}/gm, '')}`;
    writeFileSync(join(directory, 'kustomization.yaml'), text);
    const { stdout } = await run('kubectl', ['kustomize', directory], { maxBuffer: 16 * 1_048_576 });
    expect(stdout.match(/value: \/run\/secrets\/millrace\/stream_password$/gm)).toHaveLength(3);
    expect(stdout.match(/path: stream_password$/gm)).toHaveLength(3);
    expect(stdout).toContain('STREAM_USERNAME: millrace');
  } finally {
    rmSync(directory, { recursive: true });
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
