import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython, readHcl } from '../../../infra/python/ensure.ts';
import type { Json } from '../json.ts';
import { offlineTerraform } from './offline.ts';
import { type Answers, withStandIns } from './stand-ins.ts';

const MODULES = 'infra/terraform/modules';
/** The module that other modules call. It has no provider, so it is copied unchanged. */
const CALLED = 'scylla-bootstrap';

/** A module of this repository, applied with stand-ins for its resources (see `stand-ins.ts`). */
export interface AppliedModule {
  /** the created resources, with their arguments */
  made: () => Promise<{ name: string; index?: string; input: Record<string, Json> }[]>;
  outputs: () => Promise<Record<string, Json>>;
  /** the changes that other variables would cause, by action */
  planned: (...variables: string[]) => Promise<Record<string, string[]>>;
  /** the outputs with other variables */
  plannedOutputs: (...variables: string[]) => Promise<Record<string, Json>>;
  /** the error for wrong variables */
  refused: (...variables: string[]) => Promise<string>;
  remove: () => void;
}

/** @param module its directory's name */
export async function applyWithStandIns(
  module: string,
  { variables, answers }: { variables: Record<string, unknown>; answers: Answers },
): Promise<AppliedModule> {
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

  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await terraform.run(directory, ...args);
    if (code !== 0) throw new Error(`terraform ${args.join(' ')}:\n${stdout}${stderr}`);
    return stdout;
  };
  const flags = (set: string[]) => [
    '-no-color',
    '-input=false',
    ...set.map((variable) => `-var=${variable}`),
  ];
  const planWith = async (set: string[]): Promise<Json> => {
    await run('plan', '-out=plan', ...flags(set));
    return JSON.parse(await run('show', '-json', 'plan'));
  };
  await run('init', '-backend=false', ...flags([]));
  await run('apply', '-auto-approve', ...flags([]));
  return {
    made: async () =>
      JSON.parse(await run('show', '-json')).values.root_module.resources.map(
        (item: { name: string; index?: string; values: { output: object } }) => ({
          name: item.name,
          index: item.index,
          input: item.values.output,
        }),
      ),
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

const valuesOf = (outputs: Record<string, { value: unknown }>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

function byAction(changes: { address: string; change: { actions: string[] } }[]): Record<string, string[]> {
  const sorted: Record<string, string[]> = {};
  for (const { address, change } of changes) {
    const action = change.actions.join();
    sorted[action] = [...(sorted[action] ?? []), address.replace('terraform_data.', '')];
  }
  return sorted;
}
