import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const SCRIPTS = readdirSync('infra', { encoding: 'utf8', recursive: true })
  .filter((name) => name.endsWith('.sh'))
  .map((name) => `infra/${name}`);

test('Shell scripts of infra: shellcheck (Debian: apt-get install shellcheck): finds no problem', async () => {
  expect(SCRIPTS.length).toBeGreaterThan(10);
  // shellcheck prints its findings to standard output, which the error of a rejection does not contain.
  const { stdout } = await run('shellcheck', ['--external-sources', ...SCRIPTS]).catch((error) => error);
  expect(stdout).toBe('');
});
