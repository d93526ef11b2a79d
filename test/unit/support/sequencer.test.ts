import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import SlowestFirst, { SECONDS } from '../../support/sequencer.js';

/** Jest context of a run without results of an earlier run. */
const context = {
  config: { cache: false, rootDir: '/checkout' },
  hasteFS: { getSize: (/** @type {string} */ path) => path.length },
};

/** @param {string[]} files paths below `test` @returns {string[]} paths in the order in which Jest runs them */
function orderOf(files) {
  const paths = files.map((file) => join('/checkout/test', file));
  const sequencer = new /** @type {any} */ (SlowestFirst)({ contexts: [context], globalConfig: {} });
  /** @type {Array<{ path: string }>} */
  const sorted = sequencer.sort(/** @type {any} */ (paths.map((path) => ({ path, context }))));
  return sorted.map(({ path }) => path.replace('/checkout/test/', ''));
}

test('Order of test files: no earlier test run: files in the table of durations run first, then others by size', () => {
  const files = ['unit/a.test.js', 'unit/longer.test.js', 'thorough/drain.test.js'];
  const slowest = 'contract/schemathesis.test.js';
  expect(orderOf([...files, slowest])).toEqual([
    slowest,
    'thorough/drain.test.js',
    'unit/longer.test.js',
    'unit/a.test.js',
  ]);
});

test('Order of test files: the table of durations names only existing files', () => {
  expect(Object.keys(SECONDS).filter((file) => !existsSync(join('test', file)))).toEqual([]);
});
