import { describe, expect, test } from '@jest/globals';
import { BUILDS, useBuilds } from '../../support/kubernetes/build.ts';
import { carries, nameOf, podOf } from '../../support/kubernetes/resources.ts';

// Checks which connections the network policies allow. Only a cluster can show that a network plug-in enforces them.

const builds = useBuilds();

describe.each(['base', ...BUILDS.filter((name) => name.startsWith('overlays/'))])('Network: %s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  const ofKind = (kind: string) => resources().filter((resource) => resource.kind === kind);
  const templates = () =>
    resources().flatMap((resource) =>
      podOf(resource) ? [{ name: nameOf(resource), labels: podOf(resource)?.metadata.labels }] : [],
    );

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
