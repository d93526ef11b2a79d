import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { offlineTerraform } from '../support/terraform/offline.js';

/** @import { Terraform } from '../support/terraform/offline.js' */

// What Terraform itself can prove without a network: form, and the one module that has no provider. The others are read as
// HCL in terraform-modules.test.js.

const ROOT = 'infra/terraform';
const BOOTSTRAP = join(ROOT, 'modules/scylla-bootstrap');

/** @type {Terraform} */
let terraform;

beforeAll(async () => {
  terraform = await offlineTerraform();
});

afterAll(() => terraform?.remove());

test('all files have the form of terraform fmt', async () => {
  const { code, stdout, stderr } = await terraform.run(ROOT, 'fmt', '-check', '-recursive', '-diff', '.');
  expect({ code, said: stdout + stderr }).toEqual({ code: 0, said: '' });
});

test('scylla-bootstrap initializes without a network, is valid, and passes its own tests', async () => {
  const init = await terraform.run(BOOTSTRAP, 'init', '-backend=false', '-input=false', '-no-color');
  expect(init).toMatchObject({ code: 0 });
  const validate = await terraform.run(BOOTSTRAP, 'validate', '-no-color');
  expect(validate).toMatchObject({ code: 0, stdout: expect.stringContaining('The configuration is valid.') });
  const { code, stdout, stderr } = await terraform.run(BOOTSTRAP, 'test', '-no-color');
  expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
  expect(stdout).toContain(`Success! ${runsIn(join(BOOTSTRAP, 'tests'))} passed, 0 failed.`);
});

/** @param {string} directory of tests @returns {number} how many there are */
const runsIn = (directory) =>
  readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .reduce((sum, text) => sum + (text.match(/^run "/gm) ?? []).length, 0);
