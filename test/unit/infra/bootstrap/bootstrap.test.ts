import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isComplete } from '../../../../infra/bootstrap/packages.ts';
import { withoutServices } from '../../../../infra/bootstrap/policy.ts';

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
});
