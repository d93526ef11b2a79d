import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { sourceWith } from '../../mutation/known-mistakes.js';
import { MUST_DIE } from '../../mutation/must-die.js';

describe('Known mistakes', () => {
  const entry = { file: 'a.js', before: 'a < b', after: 'a <= $&', test: 'a.test.js' };

  test('Known mistake: the code is in the source once: only this code is replaced', () => {
    expect(sourceWith(entry, 'x;\nif (a < b) f();')).toBe('x;\nif (a <= $&) f();');
  });

  test.each([
    ['gone', 'if (a > b) f();', /a\.js: `a < b` is not there any more\. Renew the entry/],
    ['twice', 'a < b; a < b;', /a\.js: `a < b` is there 2 times\. Renew the entry/],
  ])('Known mistake: the code in the source is %s: error: renew the entry', (_, source, message) => {
    expect(() => sourceWith(entry, source)).toThrow(message);
  });

  test('Known mistakes: the list of the gate has 30 or more entries, and their code exists', () => {
    expect(MUST_DIE.length).toBeGreaterThanOrEqual(30);
    for (const known of MUST_DIE) sourceWith(known, readFileSync(known.file, 'utf8'));
  });
});
