import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { asyncApiDocument } from '../../api/features/asyncapi/document.ts';
import { CONTRACTS } from '../../api/features/index.ts';
import { openApiDocument } from '../../api/http/contract/openapi.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The programs that render the two interfaces, bundled for a browser. As dependencies they would install 400 MB of parts that these files
 * already contain. So npm fetches only their archives. `integrity` is the hash in the registry.
 */
const BUNDLES = [
  {
    name: '@scalar/api-reference@1.72.1',
    integrity:
      'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==',
    files: { 'package/dist/browser/standalone.js': 'http/bundle.js' },
  },
  {
    name: '@asyncapi/react-component@3.2.1',
    integrity:
      'sha512-k5ZqJd6+oxYaQ2o6F3rGWJ1MTIjXdpsUYB3NKQbVqr4yzrN0Ovj5c7eZx8NGd3wfKPhbOrLREtYl9K2OPfnSsA==',
    files: {
      'package/browser/standalone/index.js': 'mqtt/bundle.js',
      'package/styles/default.min.css': 'mqtt/bundle.css',
    },
  },
];

/** Files that pages link to. VitePress copies only pages. */
const LINKED = ['explanation/benchmarks.json', 'reference/kafka-topics.asyncapi.json'];

/**
 * Adds to the manual what it needs to show the interfaces: their documents, and the programs that render them.
 *
 * @param {string} outDir
 */
export async function writeInterfaces(outDir) {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await Promise.all([
    writeJson(join(outDir, 'http/openapi.json'), openApiDocument(CONTRACTS, { version, guarded: false })),
    writeJson(join(outDir, 'mqtt/asyncapi.json'), asyncApiDocument(CONTRACTS, { version })),
    ...LINKED.map((name) => copyFile(join(ROOT, 'docs', name), join(outDir, name))),
    ...BUNDLES.map((bundle) => copyBundle(bundle, outDir)),
  ]);
}

/** @param {string} path @param {object} content */
const writeJson = (path, content) => writeFile(path, `${JSON.stringify(content, null, 2)}\n`);

/**
 * @param {typeof BUNDLES[number]} bundle
 * @param {string} outDir
 */
async function copyBundle({ name, integrity, files }, outDir) {
  const dir = join(ROOT, '.data/manual', name.replaceAll(/[@/]/g, '_'));
  await mkdir(dir, { recursive: true });
  const archive = join(dir, 'archive.tgz');
  if ((await integrityOf(archive)) !== integrity) {
    const { stdout } = await run('npm', ['pack', name, '--json', '--pack-destination', dir]);
    const [{ filename }] = JSON.parse(stdout);
    const fetched = join(dir, filename);
    if ((await integrityOf(fetched)) !== integrity) {
      await rm(fetched, { force: true });
      throw new Error(`The registry has another ${name} than ${integrity}.`);
    }
    await rename(fetched, archive);
  }
  await run('tar', ['-xzf', archive, '-C', dir, ...Object.keys(files)]);
  for (const [from, to] of Object.entries(files)) {
    await mkdir(dirname(join(outDir, to)), { recursive: true });
    await copyFile(join(dir, from), join(outDir, to));
  }
}

/** @param {string} path @returns {Promise<string | null>} as npm writes it; null: there is no such file */
async function integrityOf(path) {
  const content = await readFile(path).catch(() => null);
  return content && `sha512-${createHash('sha512').update(content).digest('base64')}`;
}
