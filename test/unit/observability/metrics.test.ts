import { expect, test } from '@jest/globals';
import { createMetrics } from '../../../api/observability/metrics.ts';
import { readSeries } from '../../support/metrics.ts';

test('Metrics: messages and samples are counted between scrapes: each scrape has the totals so far', async () => {
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
