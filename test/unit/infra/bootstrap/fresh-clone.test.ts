import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Commands that install the npm packages themselves. */
const COMMANDS = ['infra/dev/index.ts', 'test/run.ts', 'test/mutation/index.ts'];

const STATIC_IMPORT = /^(?:import|export)(?! type\b)\b[^;]*?from '([^']+)'|^import '([^']+)'/gm;

/** @returns packages that each file imports when it is loaded */
function packagesOf(file: string, seen: Map<string, string[]> = new Map()): Map<string, string[]> {
  if (seen.has(file)) return seen;
  const specifiers = [...readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)].map(([, from, bare]) =>
    String(from ?? bare),
  );
  const isOurs = (specifier: string) => specifier.startsWith('.');
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
  expect([...packagesOf('infra/dev/flags.ts').values()].flat()).toContain('commander');
});
