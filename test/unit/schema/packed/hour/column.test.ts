import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Reader } from '../../../../../schema/packed/hour/bytes.ts';
import { columnOf, packColumn, unpackColumn } from '../../../../../schema/packed/hour/column.ts';
import { fromNumbers, toNumbers } from '../../../../../schema/packed/hour/integers.ts';

/** The packed column, with its seeds as plain numbers. */
function chosenFor(numbers: number[]) {
  const { order, seeds, planes, estimate } = columnOf(fromNumbers(numbers));
  return {
    order,
    seeds: seeds.map(([hi, lo]) => hi * 2 ** 32 + (lo >>> 0)),
    planes: planes.length,
    estimate,
  };
}

/** @param distance 0 -1 1 -2 2 become 0 1 2 3 4 */
const zigzag = (distance: number) => (distance < 0 ? -2 * distance - 1 : 2 * distance);

/** Shannon's entropy in bytes, plus half a byte for each distinct value. */
function estimateOf(bytes: number[]) {
  const counts = [...new Set(bytes)].map((byte) => bytes.filter((other) => other === byte).length);
  if (counts.length === 1) return 2;
  const bits = counts.reduce((sum, count) => sum + count * Math.log2(bytes.length / count), 0);
  return Math.min(bytes.length, bits / 8 + counts.length / 2);
}

/** All encodings of a column, with their sizes. @param numbers up to 2^40 either way */
function waysFor(numbers: number[]) {
  const picked = Array.from({ length: Math.min(9, numbers.length) }, (_, i) =>
    Number(numbers[Math.trunc((i * numbers.length) / Math.min(9, numbers.length))]),
  );
  const median = Number(picked.sort((a, b) => a - b)[Math.trunc(picked.length / 2)]);
  const first = Number(numbers[0]);
  const slope = Number(numbers[1]) - first;
  const steps = numbers.map((number, i) => number - (numbers[i - 1] ?? first));
  const ways = [
    { order: 0, seeds: [median], left: numbers.map((number) => number - median) },
    { order: 1, seeds: [first], left: steps },
    {
      order: 2,
      seeds: [first - slope, slope],
      left: steps.map((step, i) => (i < 2 ? 0 : step - Number(steps[i - 1]))),
    },
  ];
  return ways.slice(0, numbers.length > 2 ? 3 : 2).map(({ order, seeds, left }) => {
    const codes = left.map((distance) => BigInt(zigzag(distance)));
    const bits = Math.max(...codes.map((code) => (code === 0n ? 0 : code.toString(2).length)));
    const planes = Math.ceil(bits / 8);
    const estimates = Array.from({ length: planes }, (_, rank) =>
      estimateOf(codes.map((code) => Number((code >> BigInt(8 * rank)) & 255n))),
    );
    return { order, seeds, planes, estimate: estimates.reduce((sum, bytes) => sum + bytes, 0) };
  });
}

const small = fc.integer({ min: -3, max: 3 });
const large = fc.integer({ min: -(2 ** 40), max: 2 ** 40 });
const lengths = { minLength: 1, maxLength: 40 };

/** Noise, running sums of noise, and running sums of those sums. */
const kinds = [
  fc.array(fc.oneof(small, large), lengths),
  fc.array(small, lengths),
  fc.array(large, lengths),
].flatMap((list) => [list, list.map(runningSum), list.map(runningSum).map(runningSum)]);

function runningSum(numbers: number[]) {
  let sum = 0;
  return numbers.map((number) => (sum += number));
}

test('Packed column: random numbers: the prediction order with the smallest size estimate is chosen, and the lowest of equal ones', () => {
  fc.assert(
    fc.property(fc.oneof(...kinds), (numbers) => {
      const ways = waysFor(numbers);
      const least = Math.min(...ways.map(({ estimate }) => estimate));
      // Two sums of the same terms in another order may differ in their last bits.
      const near = ways.filter(({ estimate }) => estimate - least < 1e-9);
      const chosen = chosenFor(numbers);
      const expected =
        near.length === 1 || least === 0 ? near[0] : near.find(({ order }) => order === chosen.order);
      expect(chosen).toEqual({ ...expected, estimate: expect.closeTo(least, 6) });
    }),
    { numRuns: 400 },
  );
});

test.each([
  ['one repeated value', [5, 5, 5], { order: 0, seeds: [5], planes: 0, estimate: 0 }],
  ['one number', [-7], { order: 0, seeds: [-7], planes: 0, estimate: 0 }],
  ['two numbers: no slope is tried', [1, 300], { order: 0, seeds: [300] }],
  ['three numbers on a line', [10, 13, 16], { order: 2, seeds: [7, 3], planes: 0 }],
  ['orders 0 and 1 have equal sizes: order 0', [4, 4, 9], { order: 0, seeds: [4] }],
])('Packed column: %s: numbers %p: packed as %p', (_, numbers, expected) => {
  expect(chosenFor(numbers)).toMatchObject(expected);
});

test('Packed column: prediction order 0: the seed is the median of nine evenly spaced numbers', () => {
  const noise = [
    900, 17, 350, 620, 81, 444, 203, 777, 555, 130, 960, 298, 709, 36, 512, 868, 401, 250, 650, 99, 333,
  ];
  const numbers = noise.map((number) => number * 1001);
  const nine = [0, 2, 4, 7, 9, 11, 14, 16, 18].map((index) => Number(numbers[index])).sort((a, b) => a - b);
  expect(chosenFor(numbers)).toMatchObject({ order: 0, seeds: [nine[4]] });
});

test('Packed column: random numbers: read back unchanged, and the bytes behind the column are not read', () => {
  fc.assert(
    fc.property(fc.oneof(...kinds), (numbers) => {
      const blob = Buffer.concat([...packColumn(columnOf(fromNumbers(numbers))), Buffer.from([77])]);
      const reader = new Reader(blob);
      expect([...toNumbers(unpackColumn(reader, numbers.length))]).toEqual(
        numbers.map((number) => number + 0),
      );
      expect(reader.byte()).toBe(77);
    }),
  );
});
