import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Commands that install the npm packages themselves. */
const COMMANDS = [
  'infra/dev/index.js',
  'test/run.js',
  'test/coverage/index.js',
  'test/flaky/index.js',
  'test/mutation/index.js',
];

const STATIC_IMPORT = /^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'/gm;

/** @param {string} file @param {Map<string, string[]>} [seen] @returns {Map<string, string[]>} packages that each file imports when it is loaded */
function packagesOf(file, seen = new Map()) {
  if (seen.has(file)) return seen;
  const specifiers = [...readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)].map(([, from, bare]) =>
    String(from ?? bare),
  );
  const isOurs = (/** @type {string} */ specifier) => specifier.startsWith('.');
  seen.set(
    file,
    specifiers.filter((specifier) => !isOurs(specifier) && !specifier.startsWith('node:')),
  );
  for (const specifier of specifiers.filter(isOurs)) packagesOf(join(dirname(file), specifier), seen);
  return seen;
}

test.each(COMMANDS)(
  'Fresh clone: %s imports no npm package at its start, so that it can install the packages',
  (file) => {
    const packages = packagesOf(file);
    expect(packages.size).toBeGreaterThan(5);
    expect([...packages].filter(([, names]) => names.length > 0)).toEqual([]);
  },
);

test('Fresh clone: npm package in an indirect import: the check of this test finds it', () => {
  expect([...packagesOf('infra/dev/flags.js').values()].flat()).toContain('commander');
});
