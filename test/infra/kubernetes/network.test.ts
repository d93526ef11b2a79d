import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { BUILDS, KUBERNETES, useBuilds } from '../../support/kubernetes/build.ts';
import { carries, find, nameOf, podOf } from '../../support/kubernetes/resources.ts';
import { readModules } from '../../support/terraform/modules.ts';

// Checks which connections the network policies allow. Only a cluster can show that a network plug-in enforces them.

const builds = useBuilds();

describe.each(['base', ...BUILDS.filter((name) => name.startsWith('overlays/'))])('Network: %s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  const ofKind = (kind: string) => resources().filter((resource) => resource.kind === kind);
  const templates = () =>
    resources().flatMap((resource) =>
      podOf(resource) ? [{ name: nameOf(resource), labels: podOf(resource)?.metadata.labels }] : [],
    );

  test('Kubernetes network policies: default: deny all connections; every other policy names pods, peers and ports', () => {
    const policies = ofKind('NetworkPolicy');
    expect(policies).toContainEqual(
      expect.objectContaining({ spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] } }),
    );
    for (const { spec } of policies) {
      const labels = spec.podSelector.matchLabels ?? {};
      expect(templates().some((pod) => carries(pod.labels, labels))).toBe(true);
      for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
        expect(rule.to ?? rule.from).not.toHaveLength(0);
        expect(rule.ports).not.toHaveLength(0);
      }
    }
  });

  test('Kubernetes network policies: egress from a pod to another pod is allowed: ingress at the other pod is allowed too', () => {
    const policies = ofKind('NetworkPolicy').map(({ spec }) => spec);
    for (const { podSelector, egress = [] } of policies)
      for (const { podSelector: to, namespaceSelector } of egress.flatMap(
        (rule: Record<string, unknown>) => rule.to,
      )) {
        if (!to || namespaceSelector) continue;
        const targets = templates().filter(({ labels }) => carries(labels, to.matchLabels));
        expect(targets).toHaveLength(1);
        const admitted = policies
          .filter((policy) => carries(targets[0]?.labels, policy.podSelector.matchLabels ?? {}))
          .flatMap(({ ingress = [] }) => ingress.flatMap((rule: Record<string, unknown>) => rule.from));
        expect(admitted).toContainEqual({ podSelector });
      }
  });
});

describe('Network of overlays/managed, and its Terraform module', () => {
  const MODULE = 'infra/terraform/modules/scylladb-cloud';
  const TLS_PORT = 9142;

  test('Kubernetes overlays/managed: Terraform outputs: the overlay and the how-to page use only outputs that exist', async () => {
    const terraform = (await readModules(builds.python, [MODULE])).get(MODULE);
    for (const file of [
      `${KUBERNETES}/overlays/managed/kustomization.yaml`,
      'docs/how-to/deploy-to-kubernetes.md',
    ]) {
      const text = readFileSync(file, 'utf8');
      expect(text).toContain(MODULE);
      const named = [...text.matchAll(/\b(settings|secrets|files)\.([A-Z][A-Z_]+)\b/g)];
      expect(named.map(([name]) => name)).toEqual(
        expect.arrayContaining(['settings.CQL_CONTACT_POINTS', 'settings.CQL_LOCAL_DC']),
      );
      for (const [, output, setting] of named)
        expect(terraform?.outputs[String(output)]?.value).toHaveProperty(String(setting));
    }
  });

  test('Kubernetes overlays/managed: database: the settings use the TLS port, and the network policy allows the TLS port', () => {
    const resources = builds.built.get('overlays/managed') ?? [];
    const { CQL_CONTACT_POINTS, CQL_TLS_CA } = find(resources, 'ConfigMap/millrace-settings').data;
    expect(CQL_TLS_CA).toBeDefined();
    for (const point of CQL_CONTACT_POINTS.split(',')) expect(point).toMatch(new RegExp(`:${TLS_PORT}$`));
    expect(readFileSync(`${MODULE}/outputs.tf`, 'utf8')).toContain(`has_tls ? ${TLS_PORT} :`);
    const [{ ports }] = find(resources, 'NetworkPolicy/to-database').spec.egress;
    expect(ports).toContainEqual({ protocol: 'TCP', port: TLS_PORT });
  });
});
