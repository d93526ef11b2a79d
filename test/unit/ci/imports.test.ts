import { expect, test } from '@jest/globals';
import { importsOf } from '../../../.ci/imports.js';

test.each([
  ['an import', "import { a } from './a.js';", "import './a.js';"],
  ['an import of several lines', "import {\n  a,\n  b,\n} from './a.js';", "import './a.js';"],
  ['a TypeScript import of types', "import type { A } from './a.ts';", "import('./a.ts');"],
  ['a TypeScript export of types', "export type { A } from './a.ts';", "import('./a.ts');"],
  [
    'a TypeScript import of types of several lines',
    "import type {\n  A,\n  B,\n} from './a.ts';",
    "import('./a.ts');",
  ],
  ['an export of an object', "export const a = { b };\nexport { c } from './c.js';", "import './c.js';"],
  ['an import for its effect', "import './a.js';", "import './a.js';"],
  ['an export from a module', "export { a } from './a.js';", "import './a.js';"],
  ['a dynamic import', "  const { a } = await import('./a.js');", "import('./a.js');"],
  ['a parameter type', "/** @param {import('./a.js').A} a */", "import('./a.js');"],
  [
    'a type in a callback',
    "/**\n * @callback B\n * @param {Map<string, import('./a.js').A>} a\n */",
    "import('./a.js');",
  ],
  ['an @import tag', "/**\n * A module.\n *\n * @import { A } from './a.js'\n */", "import('./a.js');"],
  ['an exported text', "export const A = './a.js';", ''],
])('Import scanner of CI: source with %s: static import, lazy import or none', (_, code, imports) => {
  expect(importsOf(code)).toBe(imports);
});
