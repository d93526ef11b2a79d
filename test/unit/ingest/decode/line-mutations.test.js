import { expect, jest, test } from '@jest/globals';
import { readMutatedLines } from '../../../support/payloads/line-mutations.js';

// Set `--seed N` to repeat the mutations.
test('Line protocol: 3,000 mutations: the parser reads good lines and names bad lines, like a second parser', () => {
  expect(readMutatedLines(3000, jest.getSeed() >>> 0)).toBeGreaterThan(300);
});
