import { expect, test } from '@jest/globals';
import { readFlags } from '../../../bench/flags.js';
import { historySize } from '../../../bench/parts/history-size.js';
import { targetsTable } from '../../../bench/targets.js';

test('the bench packs every kind of signal, and the sizes are what they should be', async () => {
  const result = await historySize.run({
    stand: /** @type {any} */ (null),
    flags: { ...readFlags([]), runMs: 10 },
    status: () => {},
  });
  expect(result.sizes.map(({ signal, clock }) => `${signal}, ${clock}`)).toHaveLength(8);
  for (const { hour, arrays } of result.sizes) {
    expect(arrays.bytes).toBeCloseTo(12, 2);
    expect(hour.bytes).toBeLessThan(arrays.bytes);
  }
  const rowsOf = (/** @type {number | null} */ rowBytes) =>
    targetsTable({ 'history-size': { ...result, rowBytes } }).rows.map(([, , , holds]) => holds);
  expect(rowsOf(null)).toEqual(['yes', 'yes']);
  // Made-up rows of 12 bytes: decimals take a tenth of that, doubles more than half.
  expect(rowsOf(12)).toEqual(['yes', 'yes', 'yes', 'no']);
});
