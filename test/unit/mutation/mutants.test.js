import { describe, expect, test } from '@jest/globals';
import { applied, mutantsOf } from '../../mutation/mutants.js';

/** @param {string} source @returns {string[]} the source with each mistake */
const mistakesIn = (source) => mutantsOf('a.js', source).map((mutant) => applied(mutant, source));

describe('Mutants', () => {
  test.each([
    ['if (a) b();', ['if (true) b();', 'if (false) b();', 'if (a) ;']],
    ['while (a);', ['while (false);']],
    ['x = a < b;', ['x = a <= b;']],
    ['x = a === b;', ['x = a !== b;']],
    ['x = (a) - (b - c);', ['x = (a) + (b - c);', 'x = (a) - (b + c);']],
    ["x = 'a' + b;", []],
    ['x = a && b;', ['x = a;', 'x = b;']],
    ['x = a || b || c;', ['x = (a || b);', 'x = c;', 'x = a || c;', 'x = b || c;']],
    ['x = !a && f();', ['x = (!a);', 'x = f();', 'x = a && f();']],
    ['x = a ?? b;', ['x = a;']],
    ['i++;', ['i--;']],
    ['x += 2;', ['x -= 2;', 'x += 3;']],
    ['x = 60_000;', ['x = 120000;']],
    ['x = -1;', ['x = -2;']],
    ['x = -y;', ['x = y;']],
    ['x = true;', ['x = false;']],
    ['x = await f();', ['x = f();']],
    ['await f();', [';', 'f();']],
    ['x = list.some(f);', ['x = list.every(f);']],
    ['x = list.sort().at(0);', ['x = list.at(0);', 'x = list.sort().at(1);']],
    ['x = { a, b: c };', ['x = { b: c };', 'x = { a,  };']],
    ['x = { 1: a };', ['x = {  };']],
    ["logger.warn({ a: 1 }, 'text');", []],
    ['for (const x of y) { if (a) break; f(x); }', 3],
    ['function f() { g(); return; }', ['function f() { ; return; }', 'function f() { g(); ; }']],
    ['function f() { g(); return x; }', ['function f() { ; return x; }']],
  ])('mistakes: %s: each operator makes its own', (source, expected) => {
    const found = mistakesIn(source);
    if (typeof expected === 'number') expect(found).toHaveLength(expected);
    else expect(new Set(found)).toEqual(new Set(expected));
  });

  test('mistakes: any source: all are different, and none is the source', () => {
    const source =
      'export const f = (a, b) => (a > 0 && b ? a * 2 : Math.max(a, b, ...[1, 2].filter(Boolean)));';
    const found = mistakesIn(source);
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(found).size).toBe(found.length);
    expect(found).not.toContain(source);
  });

  test('name: lines move and are formatted again: it stays the same', () => {
    const names = (/** @type {string} */ source) =>
      mutantsOf('a.js', source).map(({ before, after }) => [before, after]);
    expect(names('\n\n  if (a)   b();')).toEqual(names('if (a) b();'));
    expect(mutantsOf('a.js', '\n\n  if (a) b();').map(({ line }) => line)).toEqual([3, 3, 3]);
  });
});
