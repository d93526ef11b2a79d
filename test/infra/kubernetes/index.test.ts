import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { BUILDS, useBuilds } from '../../support/kubernetes/build.ts';
import { carries, find, nameOf, podOf } from '../../support/kubernetes/resources.ts';

// No cluster runs here. kubectl builds the kustomizations, and the tests check the result against the schemas of Kubernetes, and one
// resource against the others.

const builds = useBuilds();

const everything = () => [...builds.built.values()].flat();
const pods = () =>
  everything().flatMap((item) => (podOf(item) ? [{ name: nameOf(item), spec: podOf(item)?.spec }] : []));

test('Kubernetes resources: schemas of Kubernetes: no violation, and no unknown field', async () => {
  const [, version = ''] =
    /^KUBERNETES_VERSION=(\S+)$/m.exec(readFileSync('infra/versions.env', 'utf8')) ?? [];
  const args = ['-k', version, '--strict', '--quiet', '--no-warn', ...builds.files];
  const validate = promisify(execFile)(builds.python.program('kubernetes-validate'), args);
  await expect(validate).resolves.toMatchObject({ stdout: '', stderr: '' });
});

test('Kubernetes: volumes: every volume is mounted, and every mount has a volume', () => {
  for (const { name, spec } of pods()) {
    const claims = everything().find((item) => nameOf(item) === name)?.spec.volumeClaimTemplates ?? [];
    const volumes = [
      ...(spec.volumes ?? []),
      ...claims.map(({ metadata }: { metadata: { name: string } }) => metadata),
    ];
    const mounted = spec.containers.flatMap(
      ({ volumeMounts }: { volumeMounts: { name: string }[] }) => volumeMounts,
    );
    const names = (list: Record<string, unknown>[]) => [...new Set(list.map(({ name }) => name))].sort();
    expect([name, names(mounted)]).toEqual([name, names(volumes)]);
  }
});

describe.each(['base', ...BUILDS.filter((name) => name.startsWith('overlays/'))])('Build: %s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  const ofKind = (...kinds: string[]) => resources().filter(({ kind }) => kinds.includes(kind));
  const templates = () =>
    resources().flatMap((item) =>
      podOf(item) ? [{ name: nameOf(item), labels: podOf(item)?.metadata.labels }] : [],
    );

  test('Kubernetes build: selectors: each selector matches the labels of exactly one pod template', () => {
    const selectors = [
      ...ofKind('StatefulSet', 'Deployment').map((item) => [item, item.spec.selector.matchLabels]),
      ...ofKind('Service').map((item) => [item, item.spec.selector]),
      ...ofKind('PodDisruptionBudget').map((item) => [item, item.spec.selector.matchLabels]),
    ];
    expect(selectors.length).toBeGreaterThan(4);
    for (const [item, wanted] of selectors) {
      const matching = templates().filter(({ labels }) => carries(labels, wanted));
      expect([nameOf(item), matching.length]).toEqual([nameOf(item), 1]);
      if (podOf(item)) expect(matching[0]?.name).toBe(nameOf(item));
    }
  });

  test('Kubernetes build: services: each target port is a port of the selected pod', () => {
    for (const { spec } of ofKind('Service')) {
      const pod = resources().find(
        (item) => podOf(item) && carries(podOf(item)?.metadata.labels, spec.selector),
      );
      const ports = podOf(pod as never)?.spec.containers[0].ports;
      for (const { targetPort } of spec.ports)
        expect(ports.map(({ name }: { name: string }) => name)).toContain(targetPort);
    }
    for (const { spec } of ofKind('StatefulSet')) find(resources(), `Service/${spec.serviceName}`);
  });
});
