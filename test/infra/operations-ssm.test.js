import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { run } from '../support/operations/fakes.js';

// The way to nodes on EC2, with a stand-in for AWS's command line tool that takes the arguments which that documents, and no others.

const INSTANCE = 'i-0123456789abcdef0';

/** @type {string} */
let directory;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-ssm-'));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  copyFileSync('test/support/operations/aws.js', join(bin, 'aws'));
  // While it waits it may be interrupted.
  writeFileSync(join(bin, 'sleep'), '#!/bin/sh\n[ -z "$FAKE_INTERRUPT" ] || kill -INT "$PPID"\n');
  for (const name of ['aws', 'sleep']) chmodSync(join(bin, name), 0o755);
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** @param {string} script @param {Record<string, string>} [more] environment of the stand-in */
const reach = (script, more = {}) =>
  run('sh', ['infra/operations/reach/ssm.sh', INSTANCE, script], {
    ...process.env,
    ...more,
    FAKE_AWS: directory,
    PATH: `${resolve(directory, 'bin')}:${process.env['PATH']}`,
  });

test('a script is run as it stands, and what it prints and its exit code come back', async () => {
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

test('a script that prints nothing and succeeds says nothing', async () => {
  expect(await reach('true')).toEqual({ code: 0, out: '', errors: '' });
});

test('without an instance, or without a script, nothing is run, and that is no success', async () => {
  for (const words of [[], [''], ['', 'true'], [INSTANCE], [INSTANCE, 'true', 'more']]) {
    const { code, out, errors } = await run('sh', ['infra/operations/reach/ssm.sh', ...words], process.env);
    expect({ code, out, errors }).toEqual({ code: 64, out: '', errors: expect.stringContaining('usage: ') });
  }
});

test('an instance that never got it fails, and says why', async () => {
  const never = { FAKE_STATUS: 'TimedOut', FAKE_DETAILS: 'Delivery Timed Out' };
  expect(await reach('true', never)).toEqual({ code: 1, out: '', errors: 'Delivery Timed Out\n' });
});

test('what is refused is passed on', async () => {
  const { code, errors } = await reach('true', { FAKE_REFUSED: 'InvalidInstanceId' });
  expect(code).toBe(254);
  expect(errors).toContain('InvalidInstanceId');
});

test('a look that fails does not end it, and ten of them do, while the command goes on', async () => {
  expect(await reach('echo done', { FAKE_UNSEEN: '2' })).toMatchObject({ code: 0, out: 'done\n' });
  const { code, errors } = await reach('echo done', { FAKE_UNSEEN: '1000' });
  expect(code).toBe(1);
  expect(errors).toContain(`goes on at ${INSTANCE}`);
  expect(existsSync(join(directory, 'cancelled'))).toBe(false);
});

test('whoever interrupts it ends the command, too', async () => {
  expect(await reach('true', { FAKE_INTERRUPT: 'yes' })).toMatchObject({ code: 130 });
  expect(existsSync(join(directory, 'cancelled'))).toBe(true);
});
