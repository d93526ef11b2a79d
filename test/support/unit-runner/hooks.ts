/**
 * Hooks with which a process of the unit tests loads modules: `@jest/globals` are those of the shared registry, and modules of the
 * dashboard go through the bundler's transform, as in jest.
 */
import { readFile } from 'node:fs/promises';
import type { LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import transform from '../web/tsx-transform.ts';

const GLOBALS = new URL('globals.ts', import.meta.url).href;

export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : next(specifier, context);

export const load: LoadHook = async (url, context, next) => {
  if (!/\.(?:tsx|css)$/.test(url)) return await next(url, context);
  const path = fileURLToPath(url);
  const { code } = transform.process(await readFile(path, 'utf8'), path);
  return { format: 'module', source: code, shortCircuit: true };
};
