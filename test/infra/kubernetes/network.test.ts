import { describe, expect, test } from '@jest/globals';
import { BUILDS, useBuilds } from '../../support/kubernetes/build.ts';
import { carries, find, nameOf, podOf } from '../../support/kubernetes/resources.ts';

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

test('Kubernetes overlays/managed: database: the settings use the TLS port, and the network policy allows the TLS port', () => {
  const resources = builds.built.get('overlays/managed') ?? [];
  const { CQL_CONTACT_POINTS, CQL_TLS_CA } = find(resources, 'ConfigMap/millrace-settings').data;
  expect(CQL_TLS_CA).toBeDefined();
  for (const point of CQL_CONTACT_POINTS.split(',')) expect(point).toMatch(/:9142$/);
  const [{ ports }] = find(resources, 'NetworkPolicy/to-database').spec.egress;
  expect(ports).toContainEqual({ protocol: 'TCP', port: 9142 });
});
