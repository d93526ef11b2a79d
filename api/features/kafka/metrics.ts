import type { Metrics } from '../../observability/metrics.ts';

export type KafkaMetrics = ReturnType<typeof declareKafkaMetrics>;

export function declareKafkaMetrics({ declare }: Pick<Metrics, 'declare'>) {
  return {
    records: declare.counter('iot_stream_records_total', 'Records that Kafka has taken, by topic', 'topic'),
    skipped: declare.counter(
      'iot_stream_skipped_total',
      'Blocks that found no room in the queue for Kafka. They are sent when their hour has closed',
    ),
    completed: declare.counter(
      'iot_stream_completed_total',
      'Blocks that were sent to Kafka after their hour had closed',
    ),
    failures: declare.counter(
      'iot_stream_failures_total',
      'Requests that Kafka did not take, and that are repeated',
    ),
  };
}
