import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BUILDS, buildAll } from '../support/kubernetes/build.js';
import { carries, find, nameOf, podOf } from '../support/kubernetes/resources.js';
import { readVersions } from '../support/versions.js';

/** @import { Builds } from '../support/kubernetes/build.js' */

// No cluster runs here: kubectl builds the kustomizations, and what they say is held against the schemas of Kubernetes and against
// what else they say.

const INSTALLS_MS = 240_000;

/** @type {Builds} */
let builds;
beforeAll(async () => {
  builds = await buildAll();
}, INSTALLS_MS);
afterAll(() => builds?.remove());

const everything = () => [...builds.built.values()].flat();
const pods = () =>
  everything().flatMap((one) => (podOf(one) ? [{ name: nameOf(one), spec: podOf(one)?.spec }] : []));

test('every resource is what Kubernetes takes, in strict mode', async () => {
  const version = readVersions().get('KUBERNETES_VERSION') ?? '';
  const args = ['-k', version, '--strict', '--quiet', '--no-warn', ...builds.files];
  const validate = promisify(execFile)(builds.python.program('kubernetes-validate'), args);
  await expect(validate).resolves.toMatchObject({ stdout: '', stderr: '' });
});

test('images are those of infra/versions.env, and ours has the version of this program', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const images = pods().flatMap(({ spec }) => spec.containers.map((/** @type {any} */ { image }) => image));
  expect([...new Set(images)].sort()).toEqual([
    `eclipse-mosquitto:${readVersions().get('MOSQUITTO_VERSION')}`,
    `millrace:${version}`,
  ]);
});

test('no pod runs as root, writes to its own image, or may do more than a process needs', () => {
  for (const { name, spec } of pods()) {
    expect([name, spec]).toEqual([
      name,
      expect.objectContaining({
        automountServiceAccountToken: false,
        serviceAccountName: 'millrace',
        securityContext: expect.objectContaining({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        }),
      }),
    ]);
    for (const { securityContext, resources } of spec.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources).toMatchObject({
        requests: { cpu: expect.anything() },
        limits: { memory: expect.anything() },
      });
    }
  }
});

test('mounts what is there, and nothing else', () => {
  for (const { name, spec } of pods()) {
    const claims = everything().find((one) => nameOf(one) === name)?.spec.volumeClaimTemplates ?? [];
    const volumes = [...(spec.volumes ?? []), ...claims.map((/** @type {any} */ { metadata }) => metadata)];
    const mounted = spec.containers.flatMap((/** @type {any} */ { volumeMounts }) => volumeMounts);
    const names = (/** @type {any[]} */ list) => [...new Set(list.map((one) => one.name))].sort();
    expect([name, names(mounted)]).toEqual([name, names(volumes)]);
  }
});

describe.each(['base', ...BUILDS.filter((name) => name.startsWith('overlays/'))])('%s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  /** @param {string[]} kinds */
  const ofKind = (...kinds) => resources().filter(({ kind }) => kinds.includes(kind));
  const templates = () =>
    resources().flatMap((one) =>
      podOf(one) ? [{ name: nameOf(one), labels: podOf(one)?.metadata.labels }] : [],
    );

  test('stands in the namespace millrace', () => {
    for (const one of resources())
      expect([nameOf(one), one.metadata.namespace ?? one.metadata.name]).toEqual([nameOf(one), 'millrace']);
  });

  test('selects by labels that pods have', () => {
    const selectors = [
      ...ofKind('StatefulSet', 'Deployment').map((one) => [one, one.spec.selector.matchLabels]),
      ...ofKind('Service').map((one) => [one, one.spec.selector]),
      ...ofKind('PodDisruptionBudget').map((one) => [one, one.spec.selector.matchLabels]),
    ];
    expect(selectors.length).toBeGreaterThan(4);
    for (const [one, wanted] of selectors) {
      const matching = templates().filter(({ labels }) => carries(labels, wanted));
      expect([nameOf(one), matching.length]).toEqual([nameOf(one), 1]);
      if (podOf(one)) expect(matching[0]?.name).toBe(nameOf(one));
    }
  });

  test('has services on ports that their pods have', () => {
    for (const { spec } of ofKind('Service')) {
      const pod = resources().find(
        (one) => podOf(one) && carries(podOf(one)?.metadata.labels, spec.selector),
      );
      const ports = podOf(/** @type {any} */ (pod))?.spec.containers[0].ports;
      for (const { targetPort } of spec.ports)
        expect(ports.map((/** @type {any} */ { name }) => name)).toContain(targetPort);
    }
    for (const { spec } of ofKind('StatefulSet')) find(resources(), `Service/${spec.serviceName}`);
  });

  test('never takes an ingest process away by itself', () => {
    const { spec } = find(resources(), 'HorizontalPodAutoscaler/millrace-ingest');
    expect(spec.behavior.scaleDown).toEqual({ selectPolicy: 'Disabled' });
    for (const { spec: scaled } of ofKind('HorizontalPodAutoscaler'))
      expect(
        find(resources(), `${scaled.scaleTargetRef.kind}/${scaled.scaleTargetRef.name}`).spec.replicas,
      ).toBeUndefined();
  });
});
