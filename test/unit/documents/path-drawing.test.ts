import { existsSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { importsOf } from '../../support/documents/imports.ts';
import { drawnFiles } from '../../support/documents/path-files.ts';
import { isUnplugged } from '../../support/unplugged.ts';

const ROOT = new URL('../../../', import.meta.url);
const files = [...new Set([...drawnFiles('embedded'), ...drawnFiles('external')])].filter(
  (file) => !isUnplugged(file),
);
const imported = new Set(
  importsOf(['api', 'common', 'schema']).map(({ file, specifier }) =>
    new URL(specifier, new URL(file, ROOT)).href.slice(ROOT.href.length),
  ),
);

describe('Drawing docs/images/path.svg', () => {
  test('Drawing docs/images/path.svg: embedded and external broker: each source file is named once in the drawing', () => {
    for (const source of ['embedded', 'external'] as const) {
      const drawn = drawnFiles(source);
      expect(drawn.length).toBeGreaterThan(20);
      expect(new Set(drawn).size).toBe(drawn.length);
    }
  });

  test.each(files)('Drawing docs/images/path.svg: %s: the file exists and is imported', (file) => {
    expect(existsSync(new URL(file, ROOT))).toBe(true);
    expect(imported).toContain(file);
  });
});
