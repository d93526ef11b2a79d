import { expect } from '@jest/globals';
import type { Json } from '../json.ts';

export function expectReferences(document: Json) {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  expect(references.length).toBeGreaterThan(2);
  const missing = references.filter(
    (path) =>
      path
        .split('/')
        .reduce((part, name) => part?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], document) ===
      undefined,
  );
  expect([...new Set(missing)]).toEqual([]);
}
