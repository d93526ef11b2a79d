import { expect, jest, test } from '@jest/globals';
import { readMutatedLines } from '../../support/payloads/line-mutations.js';

// With --seed N they can be repeated.
test('Line protocol: 100,000 mutations: good lines are read, bad ones are named by number, as a second reader has them', () => {
  expect(readMutatedLines(100_000, jest.getSeed() >>> 0)).toBeGreaterThan(10_000);
}, 300_000);
