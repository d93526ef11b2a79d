import { expect, test } from '@jest/globals';
import { killedShare, mutationPage } from '../../mutation/report.js';

/** @import { Entry } from '../../mutation/report.js' */

/** @param {Entry['result']} result @param {string} [reason] */
const entry = (result, reason) => ({
  module: 'rules',
  mutant: {
    file: 'a.js',
    start: 0,
    end: 1,
    replacement: '',
    line: 1,
    before: `${result} < 1`,
    after: `${result} <= 1`,
  },
  result,
  reason,
});
const entries = [
  entry('unit'),
  entry('unit'),
  entry('integration'),
  entry('survived'),
  entry('unreached'),
  entry('equivalent', 'it is never 1'),
  entry('untried'),
];

const RUN = { date: '2026-11-22', commit: 'abc', command: 'npm run test:mutation' };

test('Mutation page: share of killed mutants: equivalents and untried ones do not count', () => {
  expect(killedShare(entries)).toBe('60.0 %');
  expect(killedShare([entry('untried')])).toBe('-');
});

test('Mutation page: one module: counts and survivors are on it, and no equivalents', () => {
  const page = mutationPage(entries, { ...RUN, isSample: false });
  expect(page).toContain('| rules | 7 | 2 | 1 | 1 | 1 | 1 | 1 | 60.0 % |');
  expect(page).not.toContain('equivalent < 1');
  expect(page).toContain('test/mutation/equivalents.js');
  expect(page).toContain('- `survived < 1` → `survived <= 1`\n');
  expect(page).toContain('2026-11-22, commit abc');
  expect(page).not.toContain('untried < 1');
  expect(page).not.toContain('random sample');
});

test('Mutation page: random sample: it has the size of the sample, and how far it may be off', () => {
  const page = mutationPage(entries, { ...RUN, isSample: true });
  expect(page).toContain('This is a random sample: 5 of 7 mutants.');
  // 1.96 * sqrt(0.6 * 0.4 / 5 * 2 / 6)
  expect(page).toContain('wrong by more than 24.8 percentage points');
});
