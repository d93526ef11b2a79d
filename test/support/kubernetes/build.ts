import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { ensurePython, type PythonTools } from '../../../infra/python/ensure.ts';
import { useStarted } from '../clean-ups.ts';
import type { Resource } from './resources.ts';

const run = promisify(execFile);

/** Timeout for the installation of the Python tools and the builds, in ms. */
const INSTALLS_MS = 240_000;

export const KUBERNETES = 'infra/kubernetes';

/** Kustomizations that are applied. Those of `components/` are included in them. */
export const BUILDS = ['base', 'overlays', 'jobs', 'scylla']
  .flatMap((folder) => kustomizationsIn(folder))
  .filter((name) => name !== 'jobs/base');

export interface Builds {
  python: PythonTools;
  /** the output: one for the secrets, one for each of BUILDS, one for the rules of Prometheus */
  files: string[];
  secrets: Resource[];
  /** the directory that make.sh wrote */
  secretFiles: string;
  /** by kustomization, and the rules as `prometheus-rules` */
  built: Map<string, Resource[]>;
  remove: () => void;
}

/** @returns paths of kustomizations below KUBERNETES */
function kustomizationsIn(folder: string): string[] {
  const entries = readdirSync(join(KUBERNETES, folder), { withFileTypes: true });
  if (entries.some(({ name }) => name === 'kustomization.yaml')) return [folder];
  return entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => kustomizationsIn(join(folder, name)));
}

async function buildAll(): Promise<Builds> {
  await findTools(['kubectl']);
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const directory = mkdtempSync(join(tmpdir(), 'millrace-kubernetes-'));
  const generator = join(directory, 'secrets');
  mkdirSync(generator);
  copyFileSync(`${KUBERNETES}/secrets/kustomization.yaml`, join(generator, 'kustomization.yaml'));
  await run('/bin/sh', [`${KUBERNETES}/secrets/make.sh`, join(generator, 'files')]);
  const files = [await build(generator, join(directory, 'secrets.yaml'))];
  for (const name of BUILDS)
    files.push(await build(join(KUBERNETES, name), join(directory, `${name.replaceAll('/', '-')}.yaml`)));
  const rules = join(directory, 'prometheus-rules.yaml');
  writeFileSync(rules, (await run('/bin/sh', [`${KUBERNETES}/prometheus-rules.sh`])).stdout);
  files.push(rules);
  const [secrets = [], ...rest] = await readResources(python, files);
  const names = [...BUILDS, 'prometheus-rules'];
  return {
    python,
    files,
    secrets,
    secretFiles: join(generator, 'files'),
    built: new Map(rest.map((resources, index) => [String(names[index]), resources])),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export const useBuilds = () => useStarted(buildAll, ({ remove }) => remove(), INSTALLS_MS);

/** @param kustomization its directory @param file for the output */
async function build(kustomization: string, file: string): Promise<string> {
  const { stdout } = await run('kubectl', ['kustomize', kustomization], { maxBuffer: 16 * 1048576 });
  writeFileSync(file, stdout);
  return file;
}

const TO_JSON = `
import json, sys
from ruamel.yaml import YAML
print(json.dumps([list(YAML(typ="safe").load_all(open(name, encoding="utf-8"))) for name in sys.argv[1:]]))`;

async function readResources(python: PythonTools, files: string[]): Promise<Resource[][]> {
  const options = { maxBuffer: 16 * 1048576 };
  const { stdout } = await run(python.program('python'), ['-c', TO_JSON, ...files], options);
  return JSON.parse(stdout);
}
