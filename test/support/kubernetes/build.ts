import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTools } from '../../../infra/bootstrap/index.js';
import { ensurePython } from '../../../infra/python/ensure.js';
import { useStarted } from '../clean-ups.js';

/** @import { PythonTools } from '../../../infra/python/ensure.js' */
/** @import { Resource } from './resources.js' */

const run = promisify(execFile);

/** Timeout for the installation of the Python tools and the builds, in ms. */
const INSTALLS_MS = 240_000;

export const KUBERNETES = 'infra/kubernetes';

/** Kustomizations that are applied. Those of `components/` are included in them. */
export const BUILDS = ['base', 'overlays', 'jobs', 'scylla'].flatMap((folder) => kustomizationsIn(folder));

/**
 * @typedef {object} Builds
 * @property {PythonTools} python
 * @property {string[]} files the output: one for the secrets, one for each of BUILDS, one for the rules of Prometheus
 * @property {Resource[]} secrets
 * @property {string} secretFiles the directory that make.sh wrote
 * @property {Map<string, Resource[]>} built by kustomization, and the rules as `prometheus-rules`
 * @property {() => void} remove
 */

/** @param {string} folder @returns {string[]} paths of kustomizations below KUBERNETES */
function kustomizationsIn(folder) {
  const entries = readdirSync(join(KUBERNETES, folder), { withFileTypes: true });
  if (entries.some(({ name }) => name === 'kustomization.yaml')) return [folder];
  return entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => kustomizationsIn(join(folder, name)));
}

/** Builds all kustomizations, with new secrets. @returns {Promise<Builds>} */
async function buildAll() {
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

/** Builds all kustomizations for the tests of a file. */
export const useBuilds = () => useStarted(buildAll, ({ remove }) => remove(), INSTALLS_MS);

/** @param {string} kustomization its directory @param {string} file for the output @returns {Promise<string>} the file */
async function build(kustomization, file) {
  const { stdout } = await run('kubectl', ['kustomize', kustomization], { maxBuffer: 16 * 1048576 });
  writeFileSync(file, stdout);
  return file;
}

/** Prints the documents of YAML files as JSON. */
const TO_JSON = `
import json, sys
from ruamel.yaml import YAML
print(json.dumps([list(YAML(typ="safe").load_all(open(name, encoding="utf-8"))) for name in sys.argv[1:]]))`;

/** @param {PythonTools} python @param {string[]} files @returns {Promise<Resource[][]>} */
async function readResources(python, files) {
  const options = { maxBuffer: 16 * 1048576 };
  const { stdout } = await run(python.program('python'), ['-c', TO_JSON, ...files], options);
  return JSON.parse(stdout);
}
