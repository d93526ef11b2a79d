import { expect, test } from '@jest/globals';
import { globOf } from '../../../../api/ingest/mappings/pattern.js';

/** @param {string} alphabet @param {number} longest @returns {string[]} all texts of its characters, the empty one too */
function textsOf(alphabet, longest) {
  const texts = [''];
  for (const text of texts) if (text.length < longest) for (const char of alphabet) texts.push(text + char);
  return texts;
}

test('Wildcard pattern with *: all patterns and names of up to 5 characters: equal to a regular expression', () => {
  const names = textsOf('ab', 5);
  for (const glob of textsOf('ab*', 5)) {
    const expression = new RegExp(`^${glob.replaceAll('*', '.*')}$`);
    const { test } = globOf(glob);
    const differing = names.filter((name) => test(name) !== expression.test(name));
    expect({ glob, differing }).toEqual({ glob, differing: [] });
  }
});

test('Wildcard pattern with *: 60 wildcards and a name that almost matches: no match, without exponential time', () => {
  const glob = globOf(`${'*a'.repeat(60)}*b`);
  expect(glob.test('a'.repeat(128))).toBe(false);
  expect(glob.test(`${'a'.repeat(127)}b`)).toBe(true);
});

test('Glob: characters of regular expressions and newlines: matched literally', () => {
  expect(globOf('a.b*').test('axb')).toBe(false);
  expect(globOf('(a)*$').test('(a)\n$')).toBe(true);
});
