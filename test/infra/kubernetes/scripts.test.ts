import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ensurePython, readYaml } from '../../../infra/python/ensure.ts';
import { useDirectory } from '../../support/directory.ts';
import { KUBERNETES } from '../../support/kubernetes/build.ts';

// Runs the scripts for Kubernetes that work without a cluster.

const run = promisify(execFile);

const directory = useDirectory('kubernetes-scripts');

const read = (path: string) => readFileSync(path, 'utf8');

test('Kubernetes secrets/make.sh: run twice: each secret is unique and unchanged, and only the owner can read it', async () => {
  const files = join(directory, 'files');
  await run('/bin/sh', [`${KUBERNETES}/secrets/make.sh`, files]);
  const written = readdirSync(files).map((name) => read(join(files, name)));
  expect(new Set(written).size).toBe(10);
  for (const name of readdirSync(files)) expect(statSync(join(files, name)).mode & 0o077).toBe(0);
  expect(statSync(files).mode & 0o077).toBe(0);
  for (const text of written) expect(text).toMatch(/^([0-9a-f]{48}|authenticator: [\s\S]*)$/);
  await run('/bin/sh', [`${KUBERNETES}/secrets/make.sh`, files]);
  expect(readdirSync(files).map((name) => read(join(files, name)))).toEqual(written);
});

test('prometheus-rules.sh: output: contains the rules of infra/monitoring unchanged', async () => {
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
