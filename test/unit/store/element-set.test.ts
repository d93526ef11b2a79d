import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { elementsIn, packElements } from '../../../api/store/dead-letters.ts';

const MOST = 10_000;

test('Refused elements of a dead letter: any indexes: the stored bit set contains exactly these indexes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(MOST - 1)), (indexes) => {
      const isIn = elementsIn(packElements(indexes));
      const found = Array.from({ length: MOST + 9 }, (_, index) => index).filter(isIn);
      expect(found).toEqual(indexes.sort((a, b) => a - b));
      expect(isIn(-1)).toBe(false);
    }),
    { numRuns: 50 },
  );
});
