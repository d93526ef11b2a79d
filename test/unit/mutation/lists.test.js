import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { sourceWith } from '../../mutation/ci.js';
import { EQUIVALENTS, matchEquivalents } from '../../mutation/equivalents.js';
import { MODULES } from '../../mutation/modules.js';
import { MUST_DIE } from '../../mutation/must-die.js';
import { mutantsOf } from '../../mutation/mutants.js';
import { sampleOf } from '../../mutation/sample.js';
import { filesIn } from '../../mutation/test-files.js';

describe('Known mistakes', () => {
  const entry = { file: 'a.js', before: 'a < b', after: 'a <= $&', test: 'a.test.js' };

  test('source: the code is there once: only the code changes', () => {
    expect(sourceWith(entry, 'x;\nif (a < b) f();')).toBe('x;\nif (a <= $&) f();');
  });

  test.each([
    ['gone', 'if (a > b) f();', /a\.js: `a < b` is not there any more\. Renew the entry/],
    ['twice', 'a < b; a < b;', /a\.js: `a < b` is there 2 times\. Renew the entry/],
  ])('source: the code is %s: the message explains how to renew the entry', (_, source, message) => {
    expect(() => sourceWith(entry, source)).toThrow(message);
  });

  test('list: CI makes thirty mistakes or more, in code that is there', () => {
    expect(MUST_DIE.length).toBeGreaterThanOrEqual(30);
    for (const known of MUST_DIE) sourceWith(known, readFileSync(known.file, 'utf8'));
  });
});

describe('Equivalents', () => {
  const mutants = mutantsOf('a.js', '// moved\n\nif (a < b) f();');
  const entry = { file: 'a.js', before: 'if (a < b) f();', after: 'if (a <= b) f();', reason: 'never equal' };

  test('entry: the lines have moved: it still names its mutant, and no other', () => {
    const { reasonOf, stale } = matchEquivalents(mutants, [entry]);
    expect(mutants.filter(reasonOf).map(({ replacement }) => replacement)).toEqual(['<=']);
    expect(stale).toEqual([]);
  });

  test('entry: it names no mutant any more: it is stale', () => {
    const old = { ...entry, before: 'if (a < c) f();' };
    expect(matchEquivalents(mutants, [old]).stale).toEqual([old]);
    expect(matchEquivalents(mutants, [{ ...old, file: 'b.js' }]).stale).toEqual([]);
  });

  test('list: every entry gives a reason', () => {
    expect(EQUIVALENTS.filter(({ reason }) => reason.length < 10)).toEqual([]);
  });
});

describe('Modules', () => {
  test('table: every source and every test file is there', () => {
    for (const { sources, integration } of MODULES) {
      expect(sources.flatMap(filesIn)).not.toEqual([]);
      for (const file of integration) expect(readFileSync(file, 'utf8')).toMatch(/\btest(\.each)?\(/);
    }
  });
});

/** @param {number} number */
const entryOf = (number) => ({ mutant: { file: 'a.js', before: `${number}`, after: `${number + 1}` } });

test('Sample: the same seed: the same entries, in order, none twice', () => {
  const entries = Array.from({ length: 100 }, (_, index) => entryOf(index));
  const drawn = sampleOf(entries, 10, 7);
  expect(drawn).toHaveLength(10);
  expect(drawn).toEqual(entries.filter((entry) => drawn.includes(entry)));
  expect(sampleOf(entries, 10, 7)).toEqual(drawn);
  expect(sampleOf(entries, 10, 8)).not.toEqual(drawn);
});

test('Sample: half of the mutants go: the others of the sample are drawn again', () => {
  const entries = Array.from({ length: 100 }, (_, index) => entryOf(index));
  const half = entries.slice(50);
  const kept = sampleOf(entries, 20, 7).filter((entry) => half.includes(entry));
  expect(sampleOf(half, 20, 7)).toEqual(expect.arrayContaining(kept));
});
