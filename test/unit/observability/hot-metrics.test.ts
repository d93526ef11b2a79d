import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { FastHistogram } from '../../../api/observability/hot-metrics.ts';

test('Fast histogram: random values: the metrics text equals that of a prom-client histogram', async () => {
  const buckets = [0.001, 0.005, 0.1, 2, 30];
  const value = fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.constantFrom(0, ...buckets));
  await fc.assert(
    fc.asyncProperty(fc.array(value), async (values) => {
      const options = { name: 'test_seconds', help: 'Times', buckets };
      const [ours, theirs] = [new Registry(), new Registry()];
      const fast = new FastHistogram(options);
      ours.registerMetric(fast as never);
      const slow = new Histogram({ ...options, registers: [theirs] });
      for (const each of values) {
        fast.observe(each);
        slow.observe(each);
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  );
});
