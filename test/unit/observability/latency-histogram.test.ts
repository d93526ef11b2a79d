import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LatencyHistogram } from '../../../api/observability/hot-metrics.ts';

/** @param times ms */
function countsOf(times: number[]) {
  const counts = new LatencyHistogram();
  for (const time of times) counts.record(time);
  return counts;
}

/** Times from 1 µs to ten minutes. */
const times = fc.array(
  fc.double({ min: -3, max: 5.7, noNaN: true }).map((digits) => 10 ** digits),
  {
    minLength: 1,
  },
);

test('Latency histogram: any percentile: differs from the exact one by less than 3 %', () => {
  fc.assert(
    fc.property(times, fc.constantFrom(1, 50, 99, 100), (all, percent) => {
      const exact = [...all].sort((a, b) => a - b)[Math.ceil((all.length * percent) / 100) - 1] ?? 0;
      expect(Math.abs((countsOf(all).percentile(percent) ?? 0) / exact - 1)).toBeLessThan(0.03);
    }),
  );
});

test('Latency histogram: two histograms are added: the sum has the counts of both histograms', () => {
  fc.assert(
    fc.property(times, times, (some, others) => {
      const sum = countsOf(some);
      sum.add(countsOf(others).list());
      expect(sum.list()).toEqual(countsOf([...some, ...others]).list());
    }),
  );
});
