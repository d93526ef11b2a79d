import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython, readHcl } from '../../../infra/python/ensure.ts';
import type { Json } from '../json.ts';
import { offlineTerraform } from './offline.ts';
import { type Answers, withStandIns } from './stand-ins.ts';

export const TERRAFORM = 'infra/terraform';

/** @returns the files of infra/terraform, by path */
export async function readTerraform(): Promise<Record<string, Json>> {
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const files = readdirSync(TERRAFORM).filter((file) => file.endsWith('.tf'));
  return readHcl(
    python,
    files.map((file) => join(TERRAFORM, file)),
  );
}

export type AppliedTerraform = Awaited<ReturnType<typeof applyWithStandIns>>;

/** Applies infra/terraform with stand-ins for its resources (see `stand-ins.ts`). */
export async function applyWithStandIns(variables: Record<string, unknown>, answers: Answers) {
  const terraform = await offlineTerraform();
  const directory = mkdtempSync(join(tmpdir(), 'millrace-plan-'));
  writeFileSync(
    join(directory, 'main.tf.json'),
    JSON.stringify(withStandIns(await readTerraform(), answers)),
  );
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
    /** @returns the created resources, with their arguments */
    made: async (): Promise<{ name: string; index?: string; input: Record<string, Json> }[]> =>
      JSON.parse(await run('show', '-json')).values.root_module.resources.map(
        (item: { name: string; index?: string; values: { output: object } }) => ({
          name: item.name,
          index: item.index,
          input: item.values.output,
        }),
      ),
    outputs: async () => valuesOf(JSON.parse(await run('output', '-json'))),
    /** @returns the changes that other variables would cause, by action */
    planned: async (...set: string[]) => byAction((await planWith(set)).resource_changes),
    /** @returns the outputs with other variables */
    plannedOutputs: async (...set: string[]) => valuesOf((await planWith(set)).planned_values.outputs),
    /** @returns the error for wrong variables */
    refused: async (...set: string[]): Promise<string> => {
      const { code, stdout, stderr } = await terraform.run(directory, 'plan', ...flags(set));
      if (code === 0) throw new Error(`It was not refused:\n${stdout}`);
      return (stdout + stderr).replace(/\s+/g, ' ');
    },
    /** @returns the differences that `terraform fmt` would make */
    formatted: async () => {
      cpSync(TERRAFORM, join(directory, 'sources'), { recursive: true });
      const { code, stdout } = await terraform.run(join(directory, 'sources'), 'fmt', '-check', '-diff', '.');
      return { code, stdout };
    },
    remove: () => {
      terraform.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const valuesOf = (outputs: Record<string, { value: Json }>): Record<string, Json> =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

function byAction(changes: { address: string; change: { actions: string[] } }[]): Record<string, string[]> {
  const sorted: Record<string, string[]> = {};
  for (const { address, change } of changes) {
    const action = change.actions.join();
    sorted[action] = [...(sorted[action] ?? []), address.replace('terraform_data.', '')];
  }
  return sorted;
}
