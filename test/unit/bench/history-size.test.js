import { expect, test } from '@jest/globals';
import { readFlags } from '../../../tools/bench/flags.js';
import { historySize } from '../../../tools/bench/parts/history-size.js';
import { targetsTable } from '../../../tools/bench/targets.js';

test('History size bench: every kind of signal: the expected sizes', async () => {
  const result = await historySize.run({
    environment: /** @type {any} */ (null),
    flags: { ...readFlags([]), runMs: 10 },
    status: () => {},
  });
  expect(result.sizes.map(({ signal, clock }) => `${signal}, ${clock}`)).toHaveLength(8);
  // Without packing, a time has 4 bytes and a value 8.
  for (const { hour } of result.sizes) expect(hour.bytes).toBeLessThan(12);
  const held = targetsTable({ 'history-size': result }).rows.map(([, , , holds]) => holds);
  expect(held).toEqual(['yes', 'yes']);
});
