import { expect, test } from '@jest/globals';
import { PROBLEM_CODES, statusOf } from '../../../../api/http/contract/operation.ts';
import { Problem, problemWords, toProblem } from '../../../../web/api/request.ts';

const answered = (code: string, status: number) =>
  new Problem({ title: 'Some Phrase', detail: 'What is wrong.', code, status });

test.each(PROBLEM_CODES)('Problem text: API error code %s: the text has a title and advice', (code) => {
  const { title, advice } = problemWords(answered(code, statusOf(code)));
  expect(title).toMatch(/\w/);
  expect(advice).toMatch(/\.$/);
});

test('Problem text: status without API error code, or exception in the page: the message of the failure is shown', () => {
  expect(problemWords(new Problem({ title: 'The API answered 418', detail: 'Teapot', status: 418 }))).toEqual(
    {
      title: 'The API answered 418',
      advice: 'Teapot',
    },
  );
  expect(problemWords(toProblem(new TypeError('no')))).toEqual({
    title: 'The dashboard failed',
    advice: 'TypeError: no',
  });
});
