import { expect, jest, test } from '@jest/globals';
import { readMutatedLines } from '../../support/payloads/line-mutations.js';

// `--seed=N` repeats the mutations.
test('Line protocol: 100,000 mutated lines: the parser and a second reader accept the same lines, and refuse the same ones by number', () => {
  expect(readMutatedLines(100_000, jest.getSeed() >>> 0)).toBeGreaterThan(10_000);
}, 300_000);
