import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { findTools } from '../../infra/bootstrap/index.ts';

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

test('Terraform files: format and firewall rules: terraform fmt changes no file; only outgoing connections go everywhere', async () => {
  const { terraform } = await findTools(['terraform']);
  const args = ['-chdir=infra/terraform', 'fmt', '-check', '-diff', '-recursive'];
  const { stdout } = await run(String(terraform?.path), args).catch((error) => error);
  expect(stdout).toBe('');
  const rules = readFileSync('infra/terraform/firewall.tf', 'utf8').split('\n}\n');
  const everywhere = rules.filter((rule) => /0\.0\.0\.0\/0|::\/0/.test(rule));
  expect(everywhere.map((rule) => /^resource "(\w+)"/m.exec(rule)?.[1])).toEqual([
    'aws_vpc_security_group_egress_rule',
  ]);
});
