import { expect, jest, test } from '@jest/globals';
import { readMutatedLines } from '../../../support/features/line-protocol/line-mutations.ts';

// `--seed=N` repeats the mutations.
test('InfluxDB line protocol: 100,000 mutated lines: the parser and a second implementation accept and refuse the same lines', () => {
  expect(readMutatedLines(100_000, jest.getSeed() >>> 0)).toBeGreaterThan(10_000);
}, 300_000);
