import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildAll, KUBERNETES } from '../support/kubernetes/build.js';
import { find } from '../support/kubernetes/resources.js';
import { readModules } from '../support/terraform/modules.js';

// overlays/managed against the module that makes its database.

const INSTALLS_MS = 240_000;
const MODULE = 'infra/terraform/modules/scylladb-cloud';
const TLS_PORT = 9142;

/** @type {import('../support/kubernetes/build.js').Builds} */
let builds;
/** @type {import('../support/terraform/modules.js').Module | undefined} */
let module;
beforeAll(async () => {
  builds = await buildAll();
  module = (await readModules(builds.python, [MODULE])).get(MODULE);
}, INSTALLS_MS);
afterAll(() => builds?.remove());

test.each(['overlays/managed/kustomization.yaml', 'README.md'])(
  '%s names what Terraform puts out',
  (file) => {
    const text = readFileSync(`${KUBERNETES}/${file}`, 'utf8');
    expect(text).toContain(MODULE);
    const named = [...text.matchAll(/\b(settings|secrets|files)\.([A-Z][A-Z_]+)\b/g)];
    expect(named.map(([name]) => name)).toEqual(
      expect.arrayContaining(['settings.CQL_CONTACT_POINTS', 'settings.CQL_LOCAL_DC']),
    );
    for (const [, output, setting] of named)
      expect(module?.outputs[String(output)]?.value).toHaveProperty(String(setting));
  },
);

test('it asks the database on the port with TLS, to which it is let out', () => {
  const resources = builds.built.get('overlays/managed') ?? [];
  const { CQL_CONTACT_POINTS, CQL_TLS_CA } = find(resources, 'ConfigMap/millrace-settings').data;
  expect(CQL_TLS_CA).toBeDefined();
  for (const point of CQL_CONTACT_POINTS.split(',')) expect(point).toMatch(new RegExp(`:${TLS_PORT}$`));
  expect(readFileSync(`${MODULE}/outputs.tf`, 'utf8')).toContain(`has_tls ? ${TLS_PORT} :`);
  const [{ ports }] = find(resources, 'NetworkPolicy/to-database').spec.egress;
  expect(ports).toContainEqual({ protocol: 'TCP', port: TLS_PORT });
});
