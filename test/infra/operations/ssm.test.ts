import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { run } from '../../support/operations/run.ts';
import { writePrograms } from '../../support/processes/programs.ts';

// ssm.sh reaches nodes on EC2. A stand-in for the AWS command line tool accepts its documented arguments, and no others.

const INSTANCE = 'i-0123456789abcdef0';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-ssm-'));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  writePrograms(bin, {
    aws: `exec node ${resolve('test/support/operations/aws.ts')} "$@"`,
    // `sleep` can interrupt the script while it waits.
    sleep: '[ -z "$FAKE_INTERRUPT" ] || kill -INT "$PPID"',
  });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** @param variables for the environment of the stand-in */
const reach = (script: string, variables: Record<string, string> = {}) =>
  run('sh', ['infra/operations/ssm.sh', INSTANCE, script], {
    ...process.env,
    ...variables,
    FAKE_AWS: directory,
    PATH: `${resolve(directory, 'bin')}:${process.env['PATH']}`,
  });

test('AWS ssm.sh: a script with quotes: AWS gets the unchanged script, and its output and exit code are returned', async () => {
  const script = `printf '%s\\n' "it's" '$HOME' 'a "b" \\\\'\necho twice >&2\nexit 7`;
  const { code, out, errors } = await reach(script);
  expect({ code, out, errors }).toEqual({
    code: 7,
    out: `it's\n$HOME\na "b" \\\\\n`,
    errors: 'twice\n',
  });
  const sent = JSON.parse(readFileSync(join(directory, 'sent.json'), 'utf8'));
  expect(sent).toEqual({
    '--instance-ids': INSTANCE,
    '--document-name': 'AWS-RunShellScript',
    '--timeout-seconds': '60',
    '--parameters': { commands: [script], executionTimeout: ['172800'] },
    '--query': 'Command.CommandId',
    '--output': 'text',
  });
});

test('AWS ssm.sh: AWS does not deliver the command: exit code 1, and the error names the reason', async () => {
  const never = { FAKE_STATUS: 'TimedOut', FAKE_DETAILS: 'Delivery Timed Out' };
  expect(await reach('true', never)).toEqual({ code: 1, out: '', errors: 'Delivery Timed Out\n' });
});

test('AWS ssm.sh: status requests fail: the script retries, then ends with an error without canceling the remote command', async () => {
  expect(await reach('echo done', { FAKE_UNSEEN: '2' })).toMatchObject({ code: 0, out: 'done\n' });
  const { code, errors } = await reach('echo done', { FAKE_UNSEEN: '1000' });
  expect(code).toBe(1);
  expect(errors).toContain(`goes on at ${INSTANCE}`);
  expect(existsSync(join(directory, 'cancelled'))).toBe(false);
});

test('AWS ssm.sh: the script is interrupted: exit code 130, and the remote command is canceled', async () => {
  expect(await reach('true', { FAKE_INTERRUPT: 'yes' })).toMatchObject({ code: 130 });
  expect(existsSync(join(directory, 'cancelled'))).toBe(true);
});
