import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { importsOf } from '../support/documents/imports.js';

/** Folders of test files and their imports. */
const FOLDERS = ['api', 'common', 'infra', 'schema', 'simulator', 'tools', 'test', 'web'];

/**
 * The imports between files, by path relative to the checkout.
 *
 * @typedef {object} ImportGraph
 * @property {string[]} unitTests
 * @property {(test: string) => Map<string, number>} reachedBy the files that a test imports, with their distance in imports
 * @property {(file: string) => string} hashOf hash of a test file and its imports from `test`
 */

/** @returns {ImportGraph} */
export function readImportGraph() {
  /** @type {Map<string, string[]>} */
  const imports = new Map();
  for (const { file, specifier } of importsOf(FOLDERS.filter((folder) => existsSync(folder)))) {
    if (!specifier.startsWith('.')) continue;
    imports.set(file, [...(imports.get(file) ?? []), normalize(join(file, '..', specifier))]);
  }
  const reachedBy = memoize((test) => distancesFrom(test, imports));
  return {
    unitTests: filesIn('test/unit').filter((file) => file.endsWith('.test.js')),
    reachedBy,
    hashOf: memoize((test) => {
      const testFiles = [...reachedBy(test).keys()].filter((file) => file.startsWith('test/'));
      return hash(testFiles.sort().map((file) => readFileSync(file, 'utf8')));
    }),
  };
}

/** @param {string} from @param {Map<string, string[]>} imports @returns {Map<string, number>} */
function distancesFrom(from, imports) {
  const distances = new Map([[from, 0]]);
  for (const [file, distance] of distances) {
    for (const next of imports.get(file) ?? []) {
      if (!distances.has(next) && existsSync(next)) distances.set(next, distance + 1);
    }
  }
  return distances;
}

/** @param {string} path a file, or a folder @returns {string[]} its JavaScript files */
export function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((file) => file.endsWith('.js'))
    .sort();
}

/** @param {string[]} texts @returns {string} */
export function hash(texts) {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(`${text.length}:${text}`);
  return sum.digest('hex').slice(0, 24);
}

/** @template T @param {(key: string) => T} make @returns {(key: string) => T} */
export function memoize(make) {
  /** @type {Map<string, T>} */
  const made = new Map();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
