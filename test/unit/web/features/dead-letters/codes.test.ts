import { expect, test } from '@jest/globals';
import { REFUSAL_CODES } from '../../../../../api/http/contract/operation.ts';
import { ERRORS } from '../../../../../common/errors.ts';
import { CODES, codeOf, indexesByCode, indexText } from '../../../../../web/features/dead-letters/codes.tsx';

test('Refusal codes of dead letters: each code that the API documents: shown with the documented title and an advice', () => {
  expect(Object.keys(CODES).sort()).toEqual([...REFUSAL_CODES].sort());
  for (const code of REFUSAL_CODES) {
    expect(codeOf(code).title).toBe(ERRORS[code].title);
    expect(codeOf(code).advice).toMatch(/^[A-Z].*\.$/);
  }
});

test.each(['brand_new', 'constructor', '__proto__'])(
  'Refusal codes of dead letters: unknown code %s: the title states that the code is not known',
  (code) => {
    expect(codeOf(code).title).toMatch(/does not know/);
  },
);

test('Refused measurements of a dead letter: several codes: indexes are listed by code, runs as ranges', () => {
  const refused = [0, 1, 2, 4, 6, 7].map((index) => ({ index, code: index === 4 ? 'too_old' : 'bad_id' }));
  const indexes = [...indexesByCode(refused)].map(([code, list]) => [code, indexText(list)]);
  expect(indexes).toEqual([
    ['bad_id', '[0]–[2], [6]–[7]'],
    ['too_old', '[4]'],
  ]);
  expect(indexText([-1])).toBe('the whole message');
});
