import { expect, jest, test } from '@jest/globals';
import { readMutatedLines } from '../../../support/features/line-protocol/line-mutations.ts';

// Set `--seed N` to repeat the mutations.
test('Line protocol: 3,000 random changes of valid lines: two independent parsers accept and refuse the same lines', () => {
  expect(readMutatedLines(3000, jest.getSeed() >>> 0)).toBeGreaterThan(300);
});
