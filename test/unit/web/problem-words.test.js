import { expect, test } from '@jest/globals';
import { PROBLEM_CODES, statusOf } from '../../../api/http/contract/problems.js';
import { Problem, toProblem, wordsOf } from '../../../web/api/problem.js';

/** @param {string} code @param {number} status */
const answered = (code, status) =>
  new Problem({ title: 'Some Phrase', detail: 'What is wrong.', code, status });

test.each(PROBLEM_CODES)('%s has a title and says more', (code) => {
  const { title, advice } = wordsOf(answered(code, statusOf(code)));
  expect(title).toMatch(/\w/);
  expect(advice).toMatch(/\.$/);
});

test.each(['unavailable', 'unauthorized', 'not_found', 'busy', 'bad_cursor', 'internal', 'wrong_host'])(
  '%s is called by what it is, not by the phrase of its status',
  (code) => {
    expect(wordsOf(answered(code, statusOf(/** @type {any} */ (code)))).title).not.toBe('Some Phrase');
  },
);

test('an address that asks wrongly is told what is wrong with it', () => {
  expect(wordsOf(answered('bad_range', 400)).advice).toBe('What is wrong.');
});

test('an answer of somebody else, and a fault of our own, keep their words', () => {
  expect(wordsOf(new Problem({ title: 'The API answered 418', detail: 'Teapot', status: 418 }))).toEqual({
    title: 'The API answered 418',
    advice: 'Teapot',
  });
  expect(wordsOf(toProblem(new TypeError('no')))).toEqual({
    title: 'The dashboard failed',
    advice: 'TypeError: no',
  });
});
