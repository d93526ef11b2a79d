import { expect, test } from '@jest/globals';
import { visitBlock } from '../../../../../schema/packed/block.ts';
import { asDecimals } from '../../../../../schema/packed/hour/decimals.ts';
import { singleBitsOf, type Table, tableOf } from '../../../../../schema/packed/hour/forms.ts';
import type { Integers } from '../../../../../schema/packed/hour/integers.ts';

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

test('Decimal form of values: thirteen digits after the decimal point: asDecimals() returns undefined', () => {
  expect(asDecimals(Float64Array.of(1e-13), false)).toBeUndefined();
});

test('Decimal form of values: several values are -0: their indexes are listed in ascending order', () => {
  expect(asDecimals(Float64Array.of(-0, 1, -0, -0), false)?.minusZeros).toEqual([0, 2, 3]);
});

test('Single-precision bits: negative values: stored as negative integers of 64 bits', () => {
  const bits = singleBitsOf(Float64Array.of(-1.5, 1.5)) as Integers;
  expect([...bits.hi]).toEqual([-1, 0]);
  expect([...bits.lo]).toEqual([-1_077_936_128, 1_069_547_520]);
});

test('Packed block: blob of another version: the error names both versions', () => {
  expect(() => visitBlock(0, Uint8Array.of(9, 1, 1), () => {})).toThrow(
    'packed samples are of version 9; a row of message is of version 3',
  );
});
