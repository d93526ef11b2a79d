import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import SlowestFirst, { SECONDS } from '../../support/sequencer.ts';

/** Jest context of a run without results of an earlier run. */
const context = {
  config: { cache: false, rootDir: '/checkout' },
  hasteFS: { getSize: (path: string) => path.length },
};

/** @param files paths below `test` @returns paths in the order in which Jest runs them */
function orderOf(files: string[]): string[] {
  const paths = files.map((file) => join('/checkout/test', file));
  const sequencer = new SlowestFirst({ contexts: [context], globalConfig: {} } as never);
  const sorted: Array<{ path: string }> = sequencer.sort(paths.map((path) => ({ path, context })) as never);
  return sorted.map(({ path }) => path.replace('/checkout/test/', ''));
}

test('Order of test files: no earlier test run: files in the table of durations run first, then others by size', () => {
  const files = ['unit/a.test.js', 'unit/longer.test.js', 'thorough/drain.test.ts'];
  const slowest = 'contract/schemathesis.test.ts';
  expect(orderOf([...files, slowest])).toEqual([
    slowest,
    'thorough/drain.test.ts',
    'unit/longer.test.js',
    'unit/a.test.js',
  ]);
});

test('Order of test files: the table of durations names only existing files', () => {
  expect(Object.keys(SECONDS).filter((file) => !existsSync(join('test', file)))).toEqual([]);
});
