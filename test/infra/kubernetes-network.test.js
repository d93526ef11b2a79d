import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BUILDS, buildAll, KUBERNETES } from '../support/kubernetes/build.js';
import { carries, find, nameOf, podOf } from '../support/kubernetes/resources.js';
import { readModules } from '../support/terraform/modules.js';

/** @import { Builds } from '../support/kubernetes/build.js' */

// Who may speak to whom. Whether a network plug-in reads it as we do, only a cluster can show.

const INSTALLS_MS = 240_000;

/** @type {Builds} */
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

describe('overlays/managed, against the module that makes its database', () => {
  const MODULE = 'infra/terraform/modules/scylladb-cloud';
  const TLS_PORT = 9142;

  test('it and the page name what Terraform puts out', async () => {
    const terraform = (await readModules(builds.python, [MODULE])).get(MODULE);
    for (const file of [`${KUBERNETES}/overlays/managed/kustomization.yaml`, 'docs/how-to/deploy-to-kubernetes.md']) {
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

  test('it asks the database on the port with TLS, to which it is let out', () => {
    const resources = builds.built.get('overlays/managed') ?? [];
    const { CQL_CONTACT_POINTS, CQL_TLS_CA } = find(resources, 'ConfigMap/millrace-settings').data;
    expect(CQL_TLS_CA).toBeDefined();
    for (const point of CQL_CONTACT_POINTS.split(',')) expect(point).toMatch(new RegExp(`:${TLS_PORT}$`));
    expect(readFileSync(`${MODULE}/outputs.tf`, 'utf8')).toContain(`has_tls ? ${TLS_PORT} :`);
    const [{ ports }] = find(resources, 'NetworkPolicy/to-database').spec.egress;
    expect(ports).toContainEqual({ protocol: 'TCP', port: TLS_PORT });
  });
});
