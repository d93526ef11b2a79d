import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isComplete } from '../../../../infra/bootstrap/packages.ts';
import { withoutServices } from '../../../../infra/bootstrap/policy.ts';
import { runShown } from '../../../../infra/bootstrap/run-shown.ts';
import { findTools } from '../../../../infra/bootstrap/tools.ts';

describe('Bootstrap: npm packages', () => {
  const wanted = {
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b-linux': { version: '2.0.0', optional: true },
    'node_modules/b-darwin': { version: '2.0.0', optional: true },
  };

  test.each([
    ['all packages of this platform', { 'node_modules/a': { version: '1.0.0' } }, true],
    ['a package of another version', { 'node_modules/a': { version: '1.0.1' } }, false],
    ['a missing package', { 'node_modules/b-linux': { version: '2.0.0' } }, false],
    [
      'an optional package of another version',
      { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b-linux': { version: '1.9.0' } },
      false,
    ],
  ])('Bootstrap: node_modules with %s: complete only if all versions match', (_, installed, complete) => {
    expect(isComplete(wanted, installed)).toBe(complete);
  });
});

describe('Bootstrap: services of Debian packages', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-policy-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('Bootstrap: Debian packages are installed: policy-rc.d blocks their services, and is removed even after a failure', async () => {
    const policy = join(dir, 'policy-rc.d');
    const task = withoutServices(async () => {
      expect(await readFile(policy, 'utf8')).toMatch(/^#!\/bin\/sh\n[\s\S]*exit 101\n$/);
      await access(policy, 1);
      throw new Error('no network');
    }, policy);
    await expect(task).rejects.toThrow('no network');
    await expect(access(policy)).rejects.toThrow();
  });

  test('Bootstrap: Debian packages are installed: an existing policy-rc.d of the machine stays unchanged', async () => {
    const policy = join(dir, 'policy-rc.d');
    await writeFile(policy, 'theirs');
    await withoutServices(async () => {}, policy);
    expect(await readFile(policy, 'utf8')).toBe('theirs');
  });
});

describe('Bootstrap: a long task', () => {
  /** @returns program and arguments */
  const node = (code: string): [string, string[]] => [process.execPath, ['-e', code]];

  test('Bootstrap: a long task runs: the status shows the title of the task, the seconds and the last line of output', async () => {
    const shown: string[] = [];
    const [program, args] = node("console.log('half done'); setInterval(() => {}, 1000)");
    const end = new AbortController();
    const onStatus = (text: string) => {
      shown.push(text);
      if (text.includes('half done')) end.abort();
    };
    const task = runShown(program, args, { title: 'work', onStatus, signal: end.signal });
    await expect(task).rejects.toMatchObject({ name: 'AbortError' });
    expect(shown[0]).toBe('work · 0 s');
    expect(shown.at(-1)).toMatch(/^work · \d+ s · half done$/);
  });

  test('Bootstrap: a long task fails: the error begins with the first line that has an error', async () => {
    const [program, args] = node("console.error('fine\\nerror: no such thing\\nadvice'); process.exit(3)");
    const task = runShown(program, args, { title: 'work', onStatus: () => {} });
    await expect(task).rejects.toThrow(/failed:\nerror: no such thing\nadvice$/);
  });
});

describe('Bootstrap: missing programs', () => {
  const path = process.env['PATH'];
  beforeEach(() => {
    process.env['PATH'] = '/nowhere';
  });
  afterEach(() => {
    process.env['PATH'] = path;
  });

  test('Bootstrap: a missing program has no Debian package: the error names the web page of the program', async () => {
    await expect(findTools(['terraform'])).rejects.toThrow(
      /^Missing on this machine: Terraform 1\.11 or newer\. To install:\n {2}Terraform 1\.11 or newer: https:\S+$/,
    );
  });

  test('Bootstrap: several programs are missing: the error has one install command, and web pages for programs without a package', async () => {
    await expect(findTools(['openssl', 'kubectl'])).rejects.toThrow(
      /^Missing on this machine: OpenSSL, kubectl\. To install:\n {2}.*\bopenssl\n {2}kubectl: https:\S+$/,
    );
  });
});
