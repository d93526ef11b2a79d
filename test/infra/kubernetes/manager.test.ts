import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KUBERNETES } from '../../support/kubernetes/build.ts';
import { commandsIn, standIns } from '../../support/kubernetes/stand-ins.ts';

// Scylla Manager needs a role to read the schema, or it backs up nothing. The commands of the pod run in this test.

const SCRIPT = `${KUBERNETES}/scylla/manager-credentials.sh`;
const LIST = '| af1dd5cd | scylla/millrace | default | set |';

let pod: ReturnType<typeof standIns>;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-manager-'));
  writeFileSync(join(directory, 'password'), 'its-password');
  pod = standIns({
    kubectl: `while [ "$1" != -- ]; do shift; done; shift; "$@"`,
    sctool: `case "$2" in list) echo "$LIST" ;; update) [ -z "$UNKNOWN" ] ;; esac`,
  });
});
afterAll(() => {
  pod?.remove();
  rmSync(directory, { recursive: true, force: true });
});

const run = (args: string[], variables?: Record<string, string>) =>
  pod.run('bash', [SCRIPT, '--password-file', join(directory, 'password'), ...args], {
    LIST,
    UNKNOWN: '',
    ...variables,
  });

test('manager-credentials.sh: no flags: Scylla Manager gets its database role and password; the password is not printed', async () => {
  const { code, stdout, stderr, calls } = await run([]);
  expect([code, stderr]).toEqual([0, '']);
  const call = 'sctool cluster update -c scylla/millrace --username millrace_manager --password its-password';
  expect(calls.filter((line) => line.includes('its-password'))).toEqual([call]);
  expect(stdout).not.toContain('its-password');
});

test('manager-credentials.sh: a step fails: exit code 1, and the error names the cause', async () => {
  const unknown = await run([], { UNKNOWN: 'yes' });
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('did not take it')]);
  for (const list of ['', LIST.replace('set', 'not set')])
    expect(await run([], { LIST: list })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no CQL credentials'),
    });
  const none = await run(['--password-file', join(directory, 'none')]);
  expect([none.code, none.stderr, none.calls]).toEqual([1, expect.stringContaining('must hold'), []]);
});

test('manager-credentials.sh: --dry-run: prints the kubectl commands, and runs no command', async () => {
  const { code, stdout, calls } = await run(['--dry-run']);
  expect([code, calls]).toEqual([0, []]);
  expect(commandsIn(stdout).filter((command) => command.startsWith('kubectl '))).toHaveLength(2);
});

test('How-to page for Kubernetes: manager-credentials.sh: comes after the job that creates the role, and before the backup check', () => {
  const page = readFileSync('docs/how-to/deploy-to-kubernetes.md', 'utf8');
  const steps = ['job/millrace-roles\n', `bash ${SCRIPT}`, 'schema_with_internals.json.gz', '. Open the'];
  const places = steps.map((text) => page.indexOf(text));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
});
