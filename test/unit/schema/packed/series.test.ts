import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  greaterValue,
  mergeSeries,
  type Series,
  sortKeepLast,
  sortMerge,
} from '../../../../schema/packed/series.ts';
import { arrivals, sortedSeries } from './arbitraries.ts';

/** @returns its 8 big-endian bytes in hex, so that strings compare like unsigned bytes */
function bytesOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

/** Merges by brute force, as the design defines the union. @returns samples as times and bytes */
function bruteForce(list: Series[]): { samples: [number, string][]; conflicts: number } {
  const met: Map<number, Set<string>> = new Map();
  for (const { times, values } of list) {
    times.forEach((time: number, i: number) => {
      met.set(time, (met.get(time) ?? new Set()).add(bytesOf(Number(values[i]))));
    });
  }
  const instants = [...met].sort(([a], [b]) => a - b);
  return {
    samples: instants.map(([time, bytes]) => [time, String([...bytes].sort().at(-1))]),
    conflicts: instants.filter(([, bytes]) => bytes.size > 1).length,
  };
}

const samplesOf = ({ times, values }: Series): [number, string][] =>
  Array.from(times, (time, i) => [time, bytesOf(Number(values[i]))]);

// With so few times, most of them occur more than once.
const FEW = { min: 1_795_251_600_000, max: 1_795_251_600_030 };
const anySeries = sortedSeries({ ...FEW, maxLength: 20 });
const manySeries = fc.array(anySeries, { maxLength: 12 });

test.each([
  [0, -0, -0],
  [5, -1, -1],
  [-1, -2, -2],
  [1, 2, 2],
  [Number.POSITIVE_INFINITY, Number.MAX_VALUE, Number.POSITIVE_INFINITY],
  [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  [Number.NaN, Number.POSITIVE_INFINITY, Number.NaN],
  [Number.NaN, -Number.MIN_VALUE, -Number.MIN_VALUE],
  [Number.NaN, Number.NaN, Number.NaN],
])('Merge of samples: values %p and %p for one time: %p is kept, in both orders', (a, b, winner) => {
  expect(Object.is(greaterValue(a, b), winner)).toBe(true);
  expect(Object.is(greaterValue(b, a), winner)).toBe(true);
});

test('Merge of samples: samples in random order: sorted and merged as by brute force', () => {
  fc.assert(
    fc.property(arrivals(FEW), ({ times, values }) => {
      const merged = sortMerge(times, values);
      const expected = bruteForce([{ times, values }]);
      expect(samplesOf(merged)).toEqual(expected.samples);
      expect(merged.conflicts).toBe(expected.conflicts);
    }),
  );
});

test('Merge of samples: samples of one message: the last value of each time is kept', () => {
  fc.assert(
    fc.property(arrivals(FEW), ({ times, values }) => {
      const last = new Map(Array.from(times, (time, index) => [time, bytesOf(Number(values[index]))]));
      const sorted = sortKeepLast(times, values);
      expect(samplesOf(sorted)).toEqual([...last].sort(([a], [b]) => a - b));
      expect(sorted.conflicts).toBe(sortMerge(times, values).conflicts);
    }),
  );
});

test('Merge of samples: a sorted series: returned without a copy', () => {
  fc.assert(
    fc.property(anySeries, ({ times, values }) => {
      const merged = sortMerge(times, values);
      expect(merged.times === times && merged.values === values && merged.conflicts === 0).toBe(true);
    }),
  );
});

test('Merge of samples: random series: the given arrays are not changed', () => {
  fc.assert(
    fc.property(arrivals(FEW), manySeries, (given, list) => {
      const before = structuredClone({ given, list });
      sortMerge(given.times, given.values);
      mergeSeries(list);
      expect({ given, list }).toEqual(before);
    }),
  );
});

test('Merge of samples: batches that overlap at random: merged as by brute force', () => {
  fc.assert(
    fc.property(manySeries, (list) => {
      const merged = mergeSeries(list);
      const expected = bruteForce(list);
      expect(samplesOf(merged)).toEqual(expected.samples);
      expect(merged.conflicts).toBe(expected.conflicts);
    }),
  );
});
