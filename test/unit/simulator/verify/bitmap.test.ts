import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Bitmap } from '../../../../simulator/verify/ledger-parts.ts';

test('Bitmap: random whole numbers are added: the bitmap contains exactly these numbers', () => {
  const numbers = fc.array(fc.nat(100_000), { maxLength: 200 });
  fc.assert(
    fc.property(numbers, numbers, (added, others) => {
      const bitmap = new Bitmap();
      for (const number of added) bitmap.add(number);
      expect(added.every((number) => bitmap.has(number))).toBe(true);
      const known = new Set(added);
      expect(others.map((number) => bitmap.has(number))).toEqual(others.map((number) => known.has(number)));
    }),
  );
});

test.each([8191, 8192, 100_000])('Bitmap: 1 and %i are added: only these two are contained', (number) => {
  const bitmap = new Bitmap();
  bitmap.add(1);
  bitmap.add(number);
  expect([0, 1, 2, number - 1, number, number + 1].map((number) => bitmap.has(number))).toEqual([
    false,
    true,
    false,
    false,
    true,
    false,
  ]);
});
