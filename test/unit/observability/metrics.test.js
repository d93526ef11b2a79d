import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { createMetrics } from '../../../api/observability/metrics.js';
import { FastHistogram } from '../../../api/observability/process-stats.js';
import { readSeries } from '../../support/metrics.js';

test('Metrics: deliveries of alarms: each result of each receiver starts at 0', async () => {
  const { registry } = createMetrics({ version: 'test', role: 'all' });
  const text = await registry.metrics();
  for (const target of ['webhook', 'alertmanager'])
    for (const result of ['delivered', 'failed', 'dead'])
      expect(text).toContain(`\niot_alarm_deliveries_total{target="${target}",result="${result}"} 0\n`);
});

test('Fast histogram: any values: the page is the one of the histogram of prom-client', async () => {
  const buckets = [0.001, 0.005, 0.1, 2, 30];
  const value = fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.constantFrom(0, ...buckets));
  await fc.assert(
    fc.asyncProperty(fc.array(value), async (values) => {
      const options = { name: 'test_seconds', help: 'Times', buckets };
      const [ours, theirs] = [new Registry(), new Registry()];
      const fast = new FastHistogram(options);
      ours.registerMetric(/** @type {any} */ (fast));
      const slow = new Histogram({ ...options, registers: [theirs] });
      for (const each of values) {
        fast.observe(each);
        slow.observe(each);
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  );
});

test('Metrics: messages and samples are counted between two scrapes: each scrape has all of them', async () => {
  const { registry, messages, settledMessages, samples } = createMetrics({ version: 'test', role: 'all' });
  const read = async () => {
    const text = await registry.metrics();
    return ['iot_ingest_messages_total{result="settled"}', 'iot_ingest_samples_total'].map((series) =>
      readSeries(text, series),
    );
  };
  expect(await read()).toEqual([0, 0]);
  settledMessages.add(1);
  messages.inc({ result: 'settled' });
  samples.add(10);
  samples.add(5);
  expect(await read()).toEqual([2, 15]);
  settledMessages.add(1);
  expect(await read()).toEqual([3, 15]);
  expect(await read()).toEqual([3, 15]);
});
