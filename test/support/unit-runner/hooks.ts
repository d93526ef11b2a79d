/**
 * Hooks with which a process of the unit tests loads modules: `@jest/globals` are those of the shared registry, and modules of the
 * dashboard go through the bundler's transform, as in jest.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import transform from '../web/tsx-transform.js';

/** @import { LoadHook, ResolveHook } from 'node:module' */

const GLOBALS = new URL('globals.js', import.meta.url).href;

/** @type {ResolveHook} */
export const resolve = (specifier, context, next) =>
  specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : next(specifier, context);

/** @type {LoadHook} */
export const load = async (url, context, next) => {
  if (!/\.(?:tsx|css)$/.test(url)) return await next(url, context);
  const path = fileURLToPath(url);
  const { code } = transform.process(await readFile(path, 'utf8'), path);
  return { format: 'module', source: code, shortCircuit: true };
};
