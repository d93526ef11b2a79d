import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython, readHcl } from '../../../infra/python/ensure.js';
import { offlineTerraform } from './offline.js';
import { withStandIns } from './stand-ins.js';

/** @import { Answers } from './stand-ins.js' */

const MODULES = 'infra/terraform/modules';
/** The module that other modules call. It has no provider, so it is copied unchanged. */
const CALLED = 'scylla-bootstrap';

/**
 * A module of this repository, applied with stand-ins for its resources (see `stand-ins.js`).
 *
 * @typedef {object} AppliedModule
 * @property {() => Promise<{ name: string, index?: string, input: Record<string, any> }[]>} made the created resources, with their arguments
 * @property {() => Promise<Record<string, any>>} outputs
 * @property {(...variables: string[]) => Promise<Record<string, string[]>>} planned the changes that other variables would cause, by action
 * @property {(...variables: string[]) => Promise<Record<string, any>>} plannedOutputs the outputs with other variables
 * @property {(...variables: string[]) => Promise<string>} refused the error for wrong variables
 * @property {() => void} remove
 */

/**
 * @param {string} module its directory's name
 * @param {{ variables: Record<string, unknown>, answers: Answers }} options
 * @returns {Promise<AppliedModule>}
 */
export async function applyWithStandIns(module, { variables, answers }) {
  const terraform = await offlineTerraform();
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const root = mkdtempSync(join(tmpdir(), 'millrace-plan-'));
  const directory = join(root, module);
  mkdirSync(directory);
  cpSync(join(MODULES, CALLED), join(root, CALLED), { recursive: true });
  const files = readdirSync(join(MODULES, module)).filter(
    (file) => file.endsWith('.tf') && file !== 'versions.tf',
  );
  const read = await readHcl(
    python,
    files.map((file) => join(MODULES, module, file)),
  );
  writeFileSync(join(directory, 'main.tf.json'), JSON.stringify(withStandIns(read, answers)));
  writeFileSync(join(directory, 'terraform.tfvars.json'), JSON.stringify(variables));

  /** @param {string[]} args @returns {Promise<string>} */
  const run = async (...args) => {
    const { code, stdout, stderr } = await terraform.run(directory, ...args);
    if (code !== 0) throw new Error(`terraform ${args.join(' ')}:\n${stdout}${stderr}`);
    return stdout;
  };
  const flags = (/** @type {string[]} */ set) => [
    '-no-color',
    '-input=false',
    ...set.map((variable) => `-var=${variable}`),
  ];
  /** @param {string[]} set @returns {Promise<any>} */
  const planWith = async (set) => {
    await run('plan', '-out=plan', ...flags(set));
    return JSON.parse(await run('show', '-json', 'plan'));
  };
  await run('init', '-backend=false', ...flags([]));
  await run('apply', '-auto-approve', ...flags([]));
  return {
    made: async () =>
      JSON.parse(await run('show', '-json')).values.root_module.resources.map((/** @type {any} */ item) => ({
        name: item.name,
        index: item.index,
        input: item.values.output,
      })),
    outputs: async () => valuesOf(JSON.parse(await run('output', '-json'))),
    planned: async (...set) => byAction((await planWith(set)).resource_changes),
    plannedOutputs: async (...set) => valuesOf((await planWith(set)).planned_values.outputs),
    refused: async (...set) => {
      const { code, stdout, stderr } = await terraform.run(directory, 'plan', ...flags(set));
      if (code === 0) throw new Error(`It was not refused:\n${stdout}`);
      return (stdout + stderr).replace(/\s+/g, ' ');
    },
    remove: () => {
      terraform.remove();
      if (existsSync(root)) rmSync(root, { recursive: true, force: true });
    },
  };
}

/** @param {Record<string, { value: any }>} outputs @returns {Record<string, any>} */
const valuesOf = (outputs) =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

/** @param {{ address: string, change: { actions: string[] } }[]} changes @returns {Record<string, string[]>} */
function byAction(changes) {
  /** @type {Record<string, string[]>} */
  const sorted = {};
  for (const { address, change } of changes) {
    const action = change.actions.join();
    sorted[action] = [...(sorted[action] ?? []), address.replace('terraform_data.', '')];
  }
  return sorted;
}
