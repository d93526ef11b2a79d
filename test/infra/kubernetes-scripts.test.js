import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensurePython, readYaml } from '../../infra/python/ensure.js';
import { KUBERNETES } from '../support/kubernetes/build.js';

// Scripts for Kubernetes, run as far as they run without a cluster.

const run = promisify(execFile);
const SCRIPTS = ['secrets/make.sh', 'components/mosquitto/start.sh', 'prometheus-rules.sh', 'scale-in.sh'];

/** @type {string} */
let directory;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-kubernetes-scripts-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** @param {string} path */
const read = (path) => readFileSync(path, 'utf8');

test('shellcheck (Debian: apt-get install shellcheck) finds nothing', async () => {
  await run(
    'shellcheck',
    SCRIPTS.map((name) => `${KUBERNETES}/${name}`),
  );
});

test('make.sh writes secrets once, each another, for nobody else to read', async () => {
  const files = join(directory, 'files');
  await run('/bin/sh', [`${KUBERNETES}/secrets/make.sh`, files]);
  const written = readdirSync(files).map((name) => read(join(files, name)));
  expect(new Set(written).size).toBe(9);
  for (const name of readdirSync(files)) expect(statSync(join(files, name)).mode & 0o077).toBe(0);
  expect(statSync(files).mode & 0o077).toBe(0);
  for (const text of written) expect(text).toMatch(/^([0-9a-f]{48}|authenticator: [\s\S]*)$/);
  await run('/bin/sh', [`${KUBERNETES}/secrets/make.sh`, files]);
  expect(readdirSync(files).map((name) => read(join(files, name)))).toEqual(written);
});

test('prometheus-rules.sh prints the rules of infra/monitoring, unchanged', async () => {
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const { stdout } = await run('/bin/sh', [`${KUBERNETES}/prometheus-rules.sh`]);
  const rules = 'infra/monitoring/prometheus/rules';
  const documents = stdout.split(/^---\n/m).slice(1);
  expect(documents).toHaveLength(readdirSync(rules).length);
  for (const [index, name] of readdirSync(rules).sort().entries()) {
    const file = join(directory, name);
    writeFileSync(file, String(documents[index]));
    const { metadata, spec } = await readYaml(python, file);
    expect([metadata.name, spec]).toEqual([
      `millrace-${name.replace('.yml', '')}`,
      await readYaml(python, join(rules, name)),
    ]);
  }
}, 240_000);

/** A stand-in of kubectl: notes what it is asked, and answers like a cluster of three ingest processes, at least two. */
const KUBECTL = `#!/bin/sh
case "$*" in
  kustomize*) exec "$KUBECTL" "$@" ;;
esac
echo "$*" >>"$NOTES"
case "$*" in
  *" get statefulset/"*) echo "\${REPLICAS:-3}" ;;
  *" get horizontalpodautoscaler/"*) echo 2 ;;
  *" get job/"*) echo "\${OUTCOME:-Complete}" ;;
  *" apply "*) cat >>"$NOTES" ;;
esac
`;

/** @param {string[]} args @param {Record<string, string>} [cluster] */
async function scaleIn(args, cluster = {}) {
  const bin = mkdtempSync(join(directory, 'bin-'));
  writeFileSync(join(bin, 'kubectl'), KUBECTL);
  chmodSync(join(bin, 'kubectl'), 0o755);
  writeFileSync(join(bin, 'notes'), '');
  const { stdout: kubectl } = await run('/bin/sh', ['-c', 'command -v kubectl']);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    NOTES: join(bin, 'notes'),
    KUBECTL: kubectl.trim(),
    ...cluster,
  };
  const outcome = await run('/bin/sh', [`${KUBERNETES}/scale-in.sh`, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
  return { ...outcome, notes: read(join(bin, 'notes')) };
}
const asked = (/** @type {string} */ notes) =>
  [...notes.matchAll(/^--namespace millrace (\w+)/gm)].map(([, verb]) => verb);

test('scale-in.sh ends the last pod, then drains the session of that very one', async () => {
  const { code, notes } = await scaleIn([]);
  expect(code).toBe(0);
  expect(asked(notes)).toEqual(['get', 'get', 'scale', 'wait', 'delete', 'apply', 'get']);
  expect(notes).toContain('--current-replicas=3 --replicas=2');
  expect(notes).toContain('wait --for=delete pod/millrace-ingest-2');
  expect(notes).toMatch(/name: MQTT_CLIENT_ID\n\s+value: millrace-ingest-2\n/);
  expect(notes).not.toContain('ORDINAL');
});

test('scale-in.sh --dry-run prints those commands, and changes nothing', async () => {
  const { stdout, notes } = await scaleIn(['--dry-run']);
  expect(asked(notes)).toEqual(['get', 'get']);
  expect(stdout.match(/^\+ kubectl .*(scale|wait|delete|drain).*$/gm)).toHaveLength(4);
});

test('scale-in.sh says when the session is not ended, and takes none below the least', async () => {
  const failed = await scaleIn([], { OUTCOME: 'Failed' });
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('is not ended')]);
  const least = await scaleIn([], { REPLICAS: '2' });
  expect([least.code, asked(least.notes)]).toEqual([1, ['get', 'get']]);
});
