/**
 * A Babel configuration for dependency-cruiser. It reduces a module to the list of its imports, including the types that comments
 * import. The JSDoc reader of dependency-cruiser needs TypeScript 6. It also misses 5 % of the types: those in `@callback` and `@property`.
 */
import { parseSync } from '@babel/core';

/** Import and export statements. */
const STATIC = /^(?:import|(?:import|export) (?!type )[^'";=()]*\bfrom) ['"]([^'"\s]+)['"];$/gm;

/** `import('./x.js')` in code or in a comment. An import of types counts too, as a statement or as `@import` in a comment. */
const LAZY =
  /\bimport\(\s*['"]([^'"\s]+)['"]\s*\)|^(?:(?:import|export) type|\s*(?:\/\*)?\*+ .*?@import)\b[^@;]*?\bfrom\s+['"]([^'"\s]+)['"]/gm;

/** @param {string} code @returns {string} only the imports of the code; an import of a type becomes `import('./x.js')` */
export const importsOf = (code) =>
  [
    ...Array.from(code.matchAll(STATIC), ([, module]) => `import '${module}';`),
    ...Array.from(code.matchAll(LAZY), ([, bracket, tag]) => `import('${bracket ?? tag}');`),
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
