import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BUILDS, buildAll } from '../support/kubernetes/build.js';
import { carries, nameOf, podOf } from '../support/kubernetes/resources.js';

// Who may speak to whom. Whether a network plug-in reads it as we do, only a cluster can show.

const INSTALLS_MS = 240_000;

/** @type {import('../support/kubernetes/build.js').Builds} */
let builds;
beforeAll(async () => {
  builds = await buildAll();
}, INSTALLS_MS);
afterAll(() => builds?.remove());

describe.each(['base', ...BUILDS.filter((name) => name.startsWith('overlays/'))])('%s', (build) => {
  const resources = () => builds.built.get(build) ?? [];
  /** @param {string} kind */
  const ofKind = (kind) => resources().filter((one) => one.kind === kind);
  const templates = () =>
    resources().flatMap((one) =>
      podOf(one) ? [{ name: nameOf(one), labels: podOf(one)?.metadata.labels }] : [],
    );

  test('denies all connections but those that it names', () => {
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

  test('lets in what it lets out to a pod of its own', () => {
    const policies = ofKind('NetworkPolicy').map(({ spec }) => spec);
    for (const { podSelector, egress = [] } of policies)
      for (const { podSelector: to, namespaceSelector } of egress.flatMap(
        (/** @type {any} */ rule) => rule.to,
      )) {
        if (!to || namespaceSelector) continue;
        const there = templates().filter(({ labels }) => carries(labels, to.matchLabels));
        expect(there).toHaveLength(1);
        const admitted = policies
          .filter((one) => carries(there[0]?.labels, one.podSelector.matchLabels ?? {}))
          .flatMap(({ ingress = [] }) => ingress.flatMap((/** @type {any} */ rule) => rule.from));
        expect(admitted).toContainEqual({ podSelector });
      }
  });
});
