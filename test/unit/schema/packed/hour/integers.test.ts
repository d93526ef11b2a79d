import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addUp,
  at,
  byWidth,
  codesOf,
  fromNumbers,
  type Integers,
  minus,
  toNumbers,
  unzigzag,
  type Wide,
  zeros,
} from '../../../../../schema/packed/hour/integers.ts';

/** The reference does the same arithmetic with BigInt. It avoids BigInt.asIntN, because V8 11.3 compiled it wrongly. */
const SIZE = 2n ** 64n;
const unsigned = (number: bigint) => ((number % SIZE) + SIZE) % SIZE;
const signed = (number: bigint) =>
  unsigned(number) >= SIZE / 2n ? unsigned(number) - SIZE : unsigned(number);

const toBigInt = ([hi, lo]: Wide) => signed(BigInt(hi) * 2n ** 32n + BigInt(lo >>> 0));
const toWide = (number: bigint) =>
  [Number(unsigned(number) >> 32n) | 0, Number(unsigned(number) % 2n ** 32n) | 0] as Wide;

function integersOf(list: Wide[]) {
  const integers = zeros(list.length);
  integers.hi.set(list.map(([hi]) => hi));
  integers.lo.set(list.map(([, lo]) => lo));
  return integers;
}

const listOf = (integers: Integers) => Array.from(integers.hi, (_, index) => toBigInt(at(integers, index)));

// Halves near a carry or a change of sign come often.
const half = fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 30), fc.integer());
const wide = fc.tuple(half, half).map((halves) => halves as Wide);
const wides = fc.array(wide, { minLength: 1, maxLength: 12 });

test('Integers of 64 bits: difference of two random integers: equals that of BigInt, modulo 2^64', () => {
  fc.assert(
    fc.property(wide, wide, (a, b) => {
      expect(minus(a, b)).toEqual(toWide(toBigInt(a) - toBigInt(b)));
    }),
  );
});

test('Integers of 64 bits: comparison of two random integers: equals that of BigInt', () => {
  fc.assert(
    fc.property(wide, wide, (a, b) => {
      const [first, second] = [toBigInt(a), toBigInt(b)];
      expect(Math.sign(byWidth(a, b))).toBe(first < second ? -1 : first > second ? 1 : 0);
    }),
  );
});

test('Integers of 64 bits: random whole numbers from -2^53 to 2^53: converted to integers and back without change', () => {
  const whole = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 53, -(2 ** 53), 2 ** 32, -(2 ** 32)));
  fc.assert(
    fc.property(fc.array(whole), (numbers) => {
      const integers = fromNumbers(numbers);
      expect(listOf(integers)).toEqual(numbers.map(BigInt));
      // Whole numbers have no -0.
      expect([...toNumbers(integers)]).toEqual(numbers.map((number) => number + 0));
    }),
  );
});

/** @param distance without sign: 0 -1 1 -2 2 become 0 1 2 3 4 */
const zigzag = (distance: bigint) =>
  signed(distance) < 0n ? -2n * signed(distance) - 1n : 2n * signed(distance);

const codesByBigInt = (list: bigint[], order: number, start: bigint, slope: bigint) =>
  list.map((number, index) => {
    if (order === 0) return zigzag(number - start);
    const before = list[index - 1] ?? start;
    if (order === 1) return zigzag(number - before);
    const beforeThat = index === 0 ? before - slope : (list[index - 2] ?? start);
    return zigzag(number - before - (before - beforeThat));
  });

const bitsOf = (code: bigint) => (code === 0n ? 0 : code.toString(2).length);

test.each([0, 1, 2])('Integer codes: order %i: codes and bit length equal those of BigInt', (order) => {
  fc.assert(
    fc.property(wides, wide, wide, (list, start, slope) => {
      const { codes, bits } = codesOf(integersOf(list), order, start, slope);
      const expected = codesByBigInt(list.map(toBigInt), order, toBigInt(start), toBigInt(slope));
      expect(listOf(codes).map(unsigned)).toEqual(expected);
      expect(bits).toBe(Math.max(...expected.map(bitsOf)));
    }),
    { numRuns: 300 },
  );
});

test.each([0, 1, 2])('Integer codes: order %i predicts all numbers exactly: codes of 0 bits', (order) => {
  const step = order === 2 ? 7 : 0;
  const list = fromNumbers(Array.from({ length: 5 }, (_, index) => 100 + step * index));
  expect(codesOf(list, order, [0, 100 - step], [0, step]).bits).toBe(0);
});

test.each([
  [0, 0],
  [-1, 1],
  [1, 2],
  [2 ** 30, 32],
  [2 ** 31, 33],
  [2 ** 32, 34],
  [2 ** 52, 54],
])('Integer codes: distance %i from the prediction: a code of %i bits', (distance, bits) => {
  expect(codesOf(fromNumbers([distance]), 0, [0, 0]).bits).toBe(bits);
});

test('Integer codes: random integers: unzigzag() returns the integers from their codes', () => {
  fc.assert(
    fc.property(wides, (list) => {
      const numbers = integersOf(list);
      const { codes } = codesOf(numbers, 0, [0, 0]);
      unzigzag(codes);
      expect(codes).toEqual(numbers);
    }),
  );
});

test.each([false, true])('Integer sums: running=%p: equal to sums of BigInt, modulo 2^64', (running) => {
  fc.assert(
    fc.property(wides, wide, (list, start) => {
      const integers = integersOf(list);
      addUp(integers, start, running);
      let sum = toBigInt(start);
      const expected = list.map((own) => {
        const total = sum + toBigInt(own);
        if (running) sum = total;
        return signed(total);
      });
      expect(listOf(integers)).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
