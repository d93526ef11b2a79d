/**
 * A Babel configuration for dependency-cruiser. It reduces a module to the list of its imports, with those of types, because
 * dependency-cruiser reads TypeScript itself only with the compiler of version 6.
 */
import { parseSync } from '@babel/core';

const STATIC = /^(?:import|(?:import|export) (?!type )[^'";=()]*\bfrom) ['"]([^'"\s]+)['"];$/gm;

/** `import('./x.ts')`, and imports of types only. */
const LAZY =
  /\bimport\(\s*['"]([^'"\s]+)['"]\s*\)|^(?:import|export) type\b[^;]*?\bfrom\s+['"]([^'"\s]+)['"]/gm;

/** @param {string} code @returns {string} only the imports of the code; an import of a type becomes `import('./x.ts')` */
export const importsOf = (code) =>
  [
    ...Array.from(code.matchAll(STATIC), ([, module]) => `import '${module}';`),
    ...Array.from(code.matchAll(LAZY), ([, lazy, type]) => `import('${lazy ?? type}');`),
  ].join('\n');

const nothing = parseSync('', { configFile: false, babelrc: false });

export default {
  configFile: false,
  babelrc: false,
  plugins: [
    () => ({
      // dependency-cruiser parses what the generator returns, so Babel itself need not parse.
      parserOverride: () => nothing,
      /** @param {unknown} _ast @param {unknown} _options @param {string} code */
      generatorOverride: (_ast, _options, code) => ({ code: importsOf(code) }),
    }),
  ],
};
