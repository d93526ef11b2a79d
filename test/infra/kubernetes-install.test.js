import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KUBERNETES } from '../support/kubernetes/build.js';
import { commandsIn, standIns } from '../support/kubernetes/stand-ins.js';
import { readVersions } from '../support/versions.js';

// How others' operators get into a cluster: by one script, which the page and the workflow both run. What it fetches is not fetched here.

const INSTALL = `${KUBERNETES}/scylla/install.sh`;
const VERSION = readVersions().get('SCYLLA_OPERATOR_VERSION');

/** @type {ReturnType<typeof standIns>} */
let cluster;
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

/** As of the operator's own manifest, in which the tag moves. */
const MANIFEST = `
        image: docker.io/scylladb/scylla-operator:1.21
        - name: SCYLLA_OPERATOR_IMAGE
          value: "docker.io/scylladb/scylla-operator:1.21@sha256:0123"
`;

/** @param {string[]} args @param {Record<string, string>} [differs] */
const install = (args, differs) =>
  cluster.run('bash', [INSTALL, ...args], { NODES: 'node/a', MANIFEST, ...differs });

test('--dry-run prints the very commands that run', async () => {
  const { asked } = await install([]);
  const { stdout, asked: none } = await install(['--dry-run']);
  const printed = commandsIn(stdout).filter((command) => !command.startsWith('sed '));
  expect(none).toEqual([]);
  // A look at the nodes changes nothing, and is not printed.
  expect(printed).toEqual(asked.filter((command) => !command.startsWith('kubectl get nodes')));
  expect(printed.length).toBeGreaterThan(15);
  // The page has those of overlays/managed run the first five: they want cert-manager and nothing else.
  const first = printed.findIndex((command) => !command.includes('cert-manager'));
  expect(first).toBe(5);
});

test('each is ready before the next', async () => {
  const { asked } = await install([]);
  const applied = asked.flatMap((command, index) =>
    command.includes(' apply ') || /^kubectl apply/.test(command) ? [index] : [],
  );
  expect(applied).toHaveLength(6);
  for (const index of applied) expect(asked[index + 1]).toMatch(/ (wait|rollout status) --timeout=/);
});

test('the operator is applied with its version in both places, and not at all where there are not two', async () => {
  await install([]);
  const images = [...cluster.kept('applied').matchAll(/scylladb\/scylla-operator:([^"\s]*)/g)].map(
    (match) => match[1],
  );
  expect(images).toEqual([VERSION, VERSION]);
  for (const manifest of ['', 'image: docker.io/scylladb/scylla-operator:1.21']) {
    const { code, stderr, asked } = await install([], { MANIFEST: manifest });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/could not fetch|does not name its image twice/),
    ]);
    expect(asked.at(-1)).toMatch(/^curl /);
  }
});

test('it does not go on to the nodes where there are none', async () => {
  const { code, stderr, asked } = await install([], { NODES: '' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('no node has the label')]);
  expect(asked.at(-1)).toMatch(/^kubectl get nodes/);
  expect(await install(['--operators-only'], { NODES: '' })).toMatchObject({ code: 0 });
});

describe.each(['docs/how-to/deploy-to-kubernetes.md', '.github/workflows/network.yml'])('%s', (file) => {
  const text = readFileSync(file, 'utf8');

  test('installs by that script, and nothing of others by itself', () => {
    expect(text).toContain(`bash ${INSTALL}`);
    expect(text).not.toMatch(/kubectl .*https:/);
    expect(text).not.toContain('raw.githubusercontent.com');
  });
});
