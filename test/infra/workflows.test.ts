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
  on: object;
  true: object;
  permissions: object;
  jobs: Record<string, { container?: string; permissions?: object; steps: Step[] }>;
}
interface Step {
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
}
interface Update {
  directory: string;
  directories?: string[];
}

let python: PythonTools;
let workflows: Workflow[];
let dependabot: { updates: Update[] };
const directory = useDirectory('workflows');

beforeAll(async () => {
  python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  workflows = await Promise.all(FILES.map((file) => readYaml(python, file)));
  dependabot = await readYaml(python, DEPENDABOT);
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

test('Dependabot: directories of the configuration: all exist', () => {
  const { updates } = dependabot;
  const directories = updates.flatMap(({ directory, directories = [directory] }) => directories);
  expect(directories.length).toBeGreaterThan(3);
  for (const name of directories)
    expect([name, existsSync(`.${name.replace(/\*$/, '')}`)]).toEqual([name, true]);
});

test('GitHub workflows: permissions: read access to the repository; only one job may publish the documentation pages', () => {
  for (const workflow of workflows) expect(workflow.permissions).toEqual({ contents: 'read' });
  const own = jobs().filter(({ permissions }) => permissions);
  expect(own.map(({ permissions }) => permissions)).toEqual([{ pages: 'write', 'id-token': 'write' }]);
  // A commit cannot change, a tag can.
  for (const { steps } of own)
    for (const { uses, run: script } of steps)
      expect([uses, script]).toEqual([expect.stringMatching(/@[0-9a-f]{40}$/), undefined]);
  for (const { uses = '', with: options } of steps()) {
    if (uses.startsWith('actions/checkout@')) expect(options).toEqual({ 'persist-credentials': false });
    if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
  }
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

test.each([
  ['bash .ci/run', ['push', 'pull_request']],
  ['npm run test:all', ['schedule', 'push']],
])('GitHub workflows: command %s: a job runs the whole command at the expected events', (script, events) => {
  const owner = workflows.find((workflow) =>
    Object.values(workflow.jobs).some((job) => job.steps.some((step) => step.run === script)),
  );
  // YAML 1.1 reads the word `on` as true.
  expect(Object.keys(owner?.on ?? owner?.true ?? {})).toEqual(expect.arrayContaining(events));
});
