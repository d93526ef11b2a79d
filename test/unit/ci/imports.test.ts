import { expect, test } from '@jest/globals';
import { importsOf } from '../../../.ci/imports.js';

test.each([
  ['an import', "import { a } from './a.ts';", "import './a.ts';"],
  ['an import of several lines', "import {\n  a,\n  b,\n} from './a.ts';", "import './a.ts';"],
  ['an import of types', "import type { A } from './a.ts';", "import('./a.ts');"],
  ['an export of types', "export type { A } from './a.ts';", "import('./a.ts');"],
  ['an import of types of several lines', "import type {\n  A,\n  B,\n} from './a.ts';", "import('./a.ts');"],
  ['an export of an object', "export const a = { b };\nexport { c } from './c.ts';", "import './c.ts';"],
  ['an import for its effect', "import './a.ts';", "import './a.ts';"],
  ['an export from a module', "export { a } from './a.ts';", "import './a.ts';"],
  ['a dynamic import', "  const { a } = await import('./a.ts');", "import('./a.ts');"],
  ['a type of a parameter', "const f = (a: import('./a.ts').A) => a;", "import('./a.ts');"],
  ['an exported text', "export const A = './a.ts';", ''],
])('Import scanner of CI: source with %s: static import, lazy import or none', (_, code, imports) => {
  expect(importsOf(code)).toBe(imports);
});
