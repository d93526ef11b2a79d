import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readVersions } from '../../support/documents/versions.ts';
import { KUBERNETES } from '../../support/kubernetes/build.ts';
import { standIns } from '../../support/operations/stand-ins.ts';

// Tests the script that installs the operators of other projects. The page and the workflow run it. The tests download nothing.

const INSTALL = `${KUBERNETES}/scylla/install.sh`;
const VERSION = readVersions().get('SCYLLA_OPERATOR_VERSION');

let cluster: ReturnType<typeof standIns>;
beforeAll(() => {
  cluster = standIns({
    kubectl: `case "$*" in
      "get nodes"*) echo "$NODES" ;;
      *" --filename -") cat >"$HERE/applied" ;;
    esac`,
    curl: '[ -z "$MANIFEST" ] && exit 22; echo "$MANIFEST"',
  });
});
afterAll(() => cluster?.remove());

/** Lines of the operator's own manifest. Its image tag does not pin the patch version. */
const MANIFEST = `
        image: docker.io/scylladb/scylla-operator:1.21
          value: "docker.io/scylladb/scylla-operator:1.21@sha256:0123"
`;

const install = (args: string[], variables?: Record<string, string>) =>
  cluster.run('bash', [INSTALL, ...args], { NODES: 'node/a', MANIFEST, ...variables });

test('Kubernetes install.sh: operators: each operator is ready before the next operator is installed', async () => {
  const { code, calls } = await install([]);
  expect(code).toBe(0);
  const applied = calls.flatMap((command, index) => (/^kubectl apply/.test(command) ? [index] : []));
  expect(applied).toHaveLength(6);
  for (const index of applied) expect(calls[index + 1]).toMatch(/ (wait|rollout status) --timeout=/);
  const first = await install(['cert-manager']);
  expect(first).toMatchObject({ code: 0, calls: calls.slice(0, 5) });
});

test('Kubernetes install.sh: manifest of ScyllaDB Operator: both images get the pinned version; an unexpected manifest is refused', async () => {
  await install([]);
  const images = cluster.read('applied').matchAll(/scylladb\/scylla-operator:([^"\s]*)/g);
  expect([...images].map((match) => match[1])).toEqual([VERSION, VERSION]);
  for (const manifest of ['', 'image: docker.io/scylladb/scylla-operator:1.21']) {
    const { code, stderr } = await install([], { MANIFEST: manifest });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/could not fetch|does not name its image twice/),
    ]);
  }
});

test('Kubernetes install.sh: no node has the label for ScyllaDB: the script ends with an error before it configures nodes', async () => {
  const { code, stderr, calls } = await install([], { NODES: '' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('no node has the label')]);
  expect(calls.at(-1)).toMatch(/^kubectl get nodes/);
  expect(await install(['operators'], { NODES: '' })).toMatchObject({ code: 0 });
});

test.each(['docs/how-to/deploy-to-kubernetes.md', '.github/workflows/network.yml'])(
  'Kubernetes installation in %s: manifests from the network: only install.sh applies them',
  (file) => {
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(`bash ${INSTALL}`);
    expect(text).not.toMatch(/kubectl .*https:/);
  },
);
