import { expect, test } from '@jest/globals';
import { visitBlock } from '../../../../../schema/packed/block.ts';
import { asDecimals } from '../../../../../schema/packed/hour/decimals.ts';
import { type Table, tableOf } from '../../../../../schema/packed/hour/forms.ts';

test('Value table of a packed hour: a quarter of the values are distinct: the table has these values in ascending order', () => {
  const { table, indexes } = tableOf(Float64Array.of(7, 3, 7, 3, 7, 7, 7, 7)) as Table;
  expect([...table]).toEqual([3, 7]);
  expect([...indexes]).toEqual([1, 0, 1, 0, 1, 1, 1, 1]);
});

test.each([
  ['more than a quarter of the values are different', [1, 2, 3, 1, 1, 1, 1, 1]],
  ['all values are different', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['0 and -0, which are equal in a set', [0, -0, 0, 0, 0, 0, 0, 0]],
  ['NaN', [Number.NaN, 1, 1, 1, 1, 1, 1, 1]],
])('Value table of a packed hour: %s: no table is built', (_, values) => {
  expect(tableOf(Float64Array.from(values))).toBeUndefined();
});

test.each([
  ['twelve digits', 1e-12, 12],
  ['no digits', 7, 0],
])('Decimal form of values: %s after the decimal point: the digits are counted', (_, value, digits) => {
  expect(asDecimals(Float64Array.of(value), false)?.digits).toBe(digits);
});

test('Packed block: blob of another version: the error names both versions', () => {
  expect(() => visitBlock(0, Uint8Array.of(9, 1, 1), () => {})).toThrow(
    'packed samples are of version 9; a row of message is of version 3',
  );
});
