import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useStarted } from '../../support/clean-ups.ts';
import { offlineTerraform } from '../../support/terraform/offline.ts';

// Without a network, Terraform can check the format, and the one module without a provider. modules.test.ts reads the
// others as HCL.

const ROOT = 'infra/terraform';
const BOOTSTRAP = join(ROOT, 'modules/scylla-bootstrap');

const terraform = useStarted(offlineTerraform, ({ remove }) => remove());

test('Terraform files: terraform fmt changes no file', async () => {
  const { code, stdout, stderr } = await terraform.run(ROOT, 'fmt', '-check', '-recursive', '-diff', '.');
  expect({ code, output: stdout + stderr }).toEqual({ code: 0, output: '' });
});

test('Terraform module scylla-bootstrap: terraform validate and terraform test: succeed without a network', async () => {
  const init = await terraform.run(BOOTSTRAP, 'init', '-backend=false', '-input=false', '-no-color');
  expect(init).toMatchObject({ code: 0 });
  const validate = await terraform.run(BOOTSTRAP, 'validate', '-no-color');
  expect(validate).toMatchObject({ code: 0, stdout: expect.stringContaining('The configuration is valid.') });
  const { code, stdout, stderr } = await terraform.run(BOOTSTRAP, 'test', '-no-color');
  expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
  expect(stdout).toContain(`Success! ${runsIn(join(BOOTSTRAP, 'tests'))} passed, 0 failed.`);
});

/** @param directory of tests @returns the number of its tests */
const runsIn = (directory: string): number =>
  readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .reduce((sum, text) => sum + (text.match(/^run "/gm) ?? []).length, 0);
