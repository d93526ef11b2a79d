import { COMMIT_BUCKETS, counted, END_TO_END_BUCKETS } from '../../observability/index.ts';
import type { MetricDeclarations } from '../../observability/metric-declarations.ts';

export function declareAlarmMetrics(declare: MetricDeclarations) {
  const alarmDeliveries = declare.counter(
    'iot_alarm_deliveries_total',
    'Deliveries of alarms by target (webhook, alertmanager) and result: delivered, failed (repeated later), dead (given up after a day)',
    'target',
    'result',
  );
  for (const target of ['webhook', 'alertmanager'])
    counted(alarmDeliveries, 'result', ['delivered', 'failed', 'dead'], { target });
  return {
    alarmEvents: counted(
      declare.counter(
        'iot_alarm_events_total',
        'Changes of alarms: opened, cleared, acknowledged, corrected',
        'event',
      ),
      'event',
      ['opened', 'cleared', 'acknowledged', 'corrected'],
    ),
    alarmEvaluations: counted(
      declare.counter(
        'iot_alarm_evaluations_total',
        'Evaluations of an alarm rule for a sensor, by success; those that failed are repeated',
        'ok',
      ),
      'ok',
      ['true', 'false'],
    ),
    alarmEvaluationSeconds: declare.histogram(
      'iot_alarm_evaluation_seconds',
      'Time from the commit of samples to the end of their evaluation, of those that may change an alarm',
      COMMIT_BUCKETS,
    ),
    alarmDeliveries,
    alarmDeliverySeconds: declare.histogram(
      'iot_alarm_delivery_seconds',
      'Time from the change of an alarm to the answer of its receiver',
      END_TO_END_BUCKETS,
    ),
  };
}

export type AlarmMetrics = ReturnType<typeof declareAlarmMetrics>;
