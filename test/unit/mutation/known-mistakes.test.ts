import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { sourceWith } from '../../mutation/known-mistakes.ts';
import { MUST_DIE } from '../../mutation/must-die.ts';
import { isUnplugged } from '../../support/unplugged.ts';

describe('Known mistakes', () => {
  const entry = { file: 'a.js', before: 'a < b', after: 'a <= $&', test: 'a.test.js' };

  test('Mutation test: the code to replace is in the source once: only this code is replaced', () => {
    expect(sourceWith(entry, 'x;\nif (a < b) f();')).toBe('x;\nif (a <= $&) f();');
  });

  test.each([
    ['not in the source', 'if (a > b) f();', /a\.js: `a < b` is not there any more\. Renew the entry/],
    ['in the source twice', 'a < b; a < b;', /a\.js: `a < b` is there 2 times\. Renew the entry/],
  ])('Mutation test: the code to replace is %s: the error asks to renew the entry', (_, source, message) => {
    expect(() => sourceWith(entry, source)).toThrow(message);
  });

  test('Mutation test: entries of must-die.ts: at least 30, and the code to replace of each is in the source once', () => {
    expect(MUST_DIE.length).toBeGreaterThanOrEqual(30);
    for (const known of MUST_DIE.filter(({ file }) => !isUnplugged(file)))
      sourceWith(known, readFileSync(known.file, 'utf8'));
  });
});
