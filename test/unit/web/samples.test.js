import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, mergeSamples, noSamples, statisticsOf, withGaps } from '../../../web/state/samples.js';

/** @param {Map<number, number>} samples @returns {import('../../../web/api/types.js').Measurement[]} as a page of the API */
const toPage = (samples) =>
  [...samples].sort(([a], [b]) => b - a).map(([ts, value]) => ({ ts: new Date(ts).toISOString(), value }));

const anySamples = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer()), { maxLength: 60 })
  .map((pairs) => new Map(pairs));

describe('merging', () => {
  test('any pages, in any order, give every instant once, in order, the later page being right', () => {
    fc.assert(
      fc.property(anySamples, anySamples, (first, second) => {
        const merged = mergeSamples(mergeSamples(noSamples(), toPage(first)), toPage(second));
        const expected = [...new Map([...first, ...second])].sort(([a], [b]) => a - b);
        expect(merged.ts.map((ts, index) => [ts, merged.value[index]])).toEqual(expected);
      }),
    );
  });

  test('an empty page changes nothing', () => {
    const held = { ts: [1], value: [2] };
    expect(mergeSamples(held, [])).toBe(held);
  });
});

test('a range is half-open', () => {
  const samples = { ts: [10, 20, 30], value: [1, 2, 3] };
  expect(between(samples, 10, 30)).toEqual({ ts: [10, 20], value: [1, 2] });
  expect(between(samples, 11, 31)).toEqual({ ts: [20, 30], value: [2, 3] });
  expect(between(samples, 40, 50)).toEqual(noSamples());
  expect(between(samples, 0, 100)).toBe(samples);
});

test('statistics of some samples, and of none', () => {
  expect(statisticsOf({ ts: [1, 2, 3], value: [4, -1, 3] })).toEqual({ count: 3, min: -1, max: 4, avg: 2 });
  expect(statisticsOf(noSamples())).toEqual({ count: 0, min: null, max: null, avg: null });
});

test('a line is broken where samples are further apart than a gap', () => {
  const samples = { ts: [0, 10, 100], value: [1, 2, 3] };
  expect(withGaps(samples, 30)).toEqual([
    [0, 10, 11, 100],
    [1, 2, null, 3],
  ]);
  expect(withGaps(samples, null)).toEqual([
    [0, 10, 100],
    [1, 2, 3],
  ]);
});
