import { expect, test } from '@jest/globals';
import { createMetrics } from '../../../api/observability/metrics.js';

test('Metrics: deliveries of alarms: each result of each receiver starts at 0', async () => {
  const { registry } = createMetrics({ version: 'test', role: 'all' });
  const text = await registry.metrics();
  for (const target of ['webhook', 'alertmanager'])
    for (const result of ['delivered', 'failed', 'dead'])
      expect(text).toContain(`\niot_alarm_deliveries_total{target="${target}",result="${result}"} 0\n`);
});
