import { expect, test } from '@jest/globals';
import { REFUSAL_CODES } from '../../../../../api/http/contract/operation.ts';
import { ERRORS } from '../../../../../common/errors.ts';
import {
  byCount,
  CODES,
  codeOf,
  indexesByCode,
  indexText,
  reasonsOf,
} from '../../../../../web/features/dead-letters/codes.tsx';

test('Refusal codes of dead letters: each code that the API documents: shown with the documented title and an advice', () => {
  expect(Object.keys(CODES).sort()).toEqual([...REFUSAL_CODES].sort());
  for (const code of REFUSAL_CODES) {
    expect(codeOf(code).title).toBe(ERRORS[code].title);
    expect(codeOf(code).advice).toMatch(/^[A-Z].*\.$/);
  }
});

test('Refusal codes of dead letters: any two codes: shown with different CSS classes', () => {
  expect(new Set(Object.values(CODES).map(({ className }) => className)).size).toBe(REFUSAL_CODES.length);
});

test.each(['brand_new', 'constructor', '__proto__'])(
  'Refusal codes of dead letters: unknown code %s: the title states that the code is not known',
  (code) => {
    expect(codeOf(code).title).toMatch(/does not know/);
  },
);

test('Refusal codes of dead letters: sorted by count: the most frequent code comes first', () => {
  expect(byCount({ b: 1, c: 3, a: 1 })).toEqual([
    ['c', 3],
    ['a', 1],
    ['b', 1],
  ]);
});

test('Refused measurements of a dead letter: several codes: indexes are listed by code, runs as ranges', () => {
  const refused = [0, 1, 2, 4, 6, 7].map((index) => ({ index, code: index === 4 ? 'too_old' : 'bad_id' }));
  const indexes = [...indexesByCode(refused)].map(([code, list]) => [code, indexText(list)]);
  expect(indexes).toEqual([
    ['bad_id', '[0]–[2], [6]–[7]'],
    ['too_old', '[4]'],
  ]);
  expect(indexText([-1])).toBe('the whole message');
});

test('Reasons of a refusal code: repeated reasons: each reason is listed once, up to the limit; no stored rule: no reason', () => {
  const refused = [
    { index: -1, code: 'bad_id', path: '', rule: 'must be one object' },
    { index: 1, code: 'too_old', path: '[1].ts', rule: 'is 1970' },
    ...[2, 2, 3, 4].map((index) => ({ index, code: 'bad_id', path: `[${index}].n`, rule: 'must be a text' })),
    { index: 5, code: 'malformed' },
  ];
  expect(reasonsOf(refused, 'bad_id', 3)).toEqual([
    'must be one object',
    '[2].n: must be a text',
    '[3].n: must be a text',
  ]);
  expect(reasonsOf(refused, 'malformed', 3)).toEqual([]);
});
