import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { ensurePython, type PythonTools, readYaml } from '../../infra/python/ensure.ts';
import { INSTALLS_MS } from '../support/compose/index.ts';
import { useDirectory } from '../support/directory.ts';

// Workflows do not run here. The tests check them against schemas, shellcheck and the repository.

const run = promisify(execFile);
const FOLDER = '.github/workflows';
const FILES = readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`);
const DEPENDABOT = '.github/dependabot.yml';

interface Workflow {
  jobs: Record<string, { container?: string; steps: Step[] }>;
}
interface Step {
  run?: string;
}
let python: PythonTools;
let workflows: Workflow[];
const directory = useDirectory('workflows');

beforeAll(async () => {
  python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  workflows = await Promise.all(FILES.map((file) => readYaml(python, file)));
}, INSTALLS_MS);

/** @returns of all workflows */
const jobs = () => workflows.flatMap((workflow) => Object.values(workflow.jobs));

/** @returns of all jobs */
const steps = () => jobs().flatMap((job) => job.steps);

/** @returns the scripts of the jobs, with placeholders for expressions */
const scripts = (): string[] =>
  steps().flatMap(({ run: script }) => (script ? [script.replaceAll(/\$\{\{.*?\}\}/g, 'x')] : []));

test.each(['vendor.github-workflows', 'custom.github-workflows-require-timeout'])(
  'GitHub workflows: all files: valid by the schema %s',
  async (schema) => {
    await run(python.program('check-jsonschema'), ['--builtin-schema', schema, ...FILES]);
  },
);

test('Dependabot: configuration: valid by the schema of Dependabot', async () => {
  await run(python.program('check-jsonschema'), ['--builtin-schema', 'vendor.dependabot', DEPENDABOT]);
});

test('GitHub workflows: scripts: shellcheck finds no problem', async () => {
  const files = scripts().map((script, index) => {
    const file = join(directory, `${index}.sh`);
    writeFileSync(file, `#!/usr/bin/env bash\nset -e\n${script}\n`);
    return file;
  });
  expect(files.length).toBeGreaterThan(15);
  // shellcheck prints its findings to standard output, which the error of a rejection does not contain.
  const { stdout } = await run('shellcheck', files).catch((error) => error);
  expect(stdout).toBe('');
});

test('GitHub workflows: files in the scripts: exist; the container image is the base image of the Dockerfile', () => {
  const missing = scripts().flatMap((script) =>
    [...script.matchAll(/(?<![\w/.])(infra\/[\w./-]+)/g)]
      .map((match) => String(match[1]).replace(/[/.]+$/, ''))
      .filter((path) => !existsSync(path)),
  );
  expect(missing).toEqual([]);
  const images = jobs().flatMap(({ container }) => container ?? []);
  const [, base] = /^FROM (\S+)/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  expect(new Set(images)).toEqual(new Set([base]));
});
