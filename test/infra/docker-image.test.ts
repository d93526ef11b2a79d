import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importsOf, packageOf } from '../support/documents/imports.ts';

// Checks that the Dockerfile copies the files that its code needs. No image is built.

const copied = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (?!--)(.+) \S+$/gm)]
  .flatMap((match) => String(match[1]).split(' '))
  .sort();
const folders = copied.filter((path) => existsSync(path) && statSync(path).isDirectory());

test('Docker image: .dockerignore: allows exactly the files that the Dockerfile copies', () => {
  const [everything, ...allowed] = readFileSync('.dockerignore', 'utf8').match(/^[^#\s].*$/gm) ?? [];
  expect(everything).toBe('*');
  expect(allowed.map((line) => line.slice(1)).sort()).toEqual([...new Set(copied)]);
});

/** Packages that the code can work without. */
const OPTIONAL = ['pino-pretty'];

test('Docker image: import statements: the image contains every imported file and package', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  // A browser loads `web`, and `docs` is built in a stage of its own.
  const server = folders.filter((folder) => folder !== 'web' && folder !== 'docs');
  const missing = importsOf(server).filter(({ file, specifier }) => {
    if (specifier.startsWith('node:')) return false;
    if (!specifier.startsWith('.'))
      return !(packageOf(specifier) in dependencies) && !OPTIONAL.includes(specifier);
    const path = join(file, '..', specifier);
    return !existsSync(path) || !folders.some((folder) => path.startsWith(`${folder}/`));
  });
  expect(missing).toEqual([]);
});
