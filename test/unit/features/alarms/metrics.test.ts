import { expect, test } from '@jest/globals';
import { declareAlarmMetrics } from '../../../../api/features/alarms/metrics.ts';
import { createMetrics } from '../../../../api/observability/metrics.ts';

test('Metrics: iot_alarm_deliveries_total: the series of each receiver and result starts at 0', async () => {
  const { registry, declare } = createMetrics({ version: 'test', role: 'all' });
  declareAlarmMetrics(declare);
  const text = await registry.metrics();
  for (const target of ['webhook', 'alertmanager'])
    for (const result of ['delivered', 'failed', 'dead'])
      expect(text).toContain(`\niot_alarm_deliveries_total{target="${target}",result="${result}"} 0\n`);
});
