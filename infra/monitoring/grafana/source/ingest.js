import { dashboard } from './dashboard.js';

const OF = '{job="$job", instance=~"$instance"}';

/** The way from a message to its acknowledgement: for the engineer on call. */
export const ingest = dashboard({
  uid: 'millrace-ingest',
  title: 'Millrace: ingest',
  description: 'The way from a message to its commit, what holds it up, and packing behind it.',
  panels: [
    {
      title: 'Standstill',
      description: 'Since the last message was settled, while messages wait. Over a minute is an alert.',
      unit: 's',
      limit: 60,
      queries: { '{{instance}}': `iot_ingest_standstill_seconds${OF}` },
    },
    {
      title: 'Time to commit',
      description:
        'From the receipt of a message to its last commit. The objective is one second for 99 of 100.',
      unit: 's',
      limit: 1,
      queries: Object.fromEntries(
        [50, 95, 99].map((percent) => [
          `p${percent}`,
          `histogram_quantile(0.${percent}, sum by (le) (rate(iot_ingest_commit_seconds_bucket${OF}[$__rate_interval])))`,
        ]),
      ),
    },
    {
      title: 'The window',
      description:
        'Requests in flight follow what the database takes. In flight at the window for long: the database is at its limit.',
      unit: 'short',
      queries: {
        'in flight {{instance}}': `iot_ingest_in_flight${OF}`,
        'window {{instance}}': `iot_ingest_window${OF}`,
        'limit {{instance}}': `iot_ingest_window_limit${OF}`,
      },
    },
    {
      title: 'Waiting',
      description:
        'Requests that wait for a place in the window: back-pressure. What waits here is not acknowledged yet.',
      unit: 'short',
      queries: {
        'requests {{instance}}': `iot_ingest_waiting${OF}`,
        'messages {{instance}}': `iot_ingest_unsettled_messages${OF}`,
      },
    },
    {
      title: 'Bytes being settled',
      description: 'Message sources stop reading at 64 MiB.',
      unit: 'bytes',
      queries: {
        'messages {{instance}}': `iot_ingest_unsettled_bytes${OF}`,
        'posts {{instance}}': `iot_ingest_submitted_bytes${OF}`,
      },
    },
    {
      title: 'Repeated requests, large partitions, dropped messages',
      description:
        'Requests are repeated while the database does not take them. What a broker drops is lost.',
      unit: 'short',
      queries: {
        repeated: `sum(rate(iot_ingest_retries_total${OF}[$__rate_interval]))`,
        'large partitions': `sum(rate(iot_ingest_large_partitions_total${OF}[$__rate_interval]))`,
        'dropped by the broker': `max(rate(iot_broker_dropped_messages${OF}[$__rate_interval]))`,
        'not forwarded': `sum(rate(iot_broker_forwards_dropped_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'Packing behind',
      description: 'One to two hours when all is well. At a quarter of BATCH_DAYS somebody has to look.',
      unit: 's',
      queries: {
        lag: `max(iot_pack_lag_seconds${OF})`,
        limit: `min(iot_pack_lag_limit_seconds${OF})`,
      },
    },
    {
      title: 'Packed',
      description: 'Once an hour, for the hour before the last.',
      unit: 'short',
      queries: {
        'samples/s': `sum(rate(iot_pack_samples_total${OF}[$__rate_interval]))`,
        'sensor hours/s': `sum(rate(iot_pack_hours_total${OF}[$__rate_interval]))`,
        'unreadable rows/s': `sum(rate(iot_pack_unreadable_rows_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'One hour of one group, packed',
      description: 'Giving way to ingest included: long while ingest is under pressure.',
      unit: 's',
      queries: {
        p95: `histogram_quantile(0.95, sum by (le) (rate(iot_pack_seconds_bucket${OF}[1h])))`,
      },
    },
    {
      title: 'Baselines: age',
      description: 'Learned once a day, after 06:00 UTC. Some hours are normal, more than a day is not.',
      unit: 's',
      queries: {
        lag: `max(iot_baseline_lag_seconds${OF})`,
        'provisional lag': `max(iot_baseline_provisional_lag_seconds${OF})`,
      },
    },
    {
      title: 'Baselines: sensors and groups',
      description:
        'Sensors that a process can judge, groups whose baselines of the day are there, and baselines learned.',
      unit: 'short',
      queries: {
        'sensors {{instance}}': `iot_baseline_sensors${OF}`,
        'provisional {{instance}}': `iot_baseline_provisional_sensors${OF}`,
        'groups {{state}}': `max by (state) (iot_baseline_groups${OF})`,
        'learned/s': `sum(rate(iot_baseline_learned_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'Doors: lines, mapped topics, files, refusals',
      description:
        'Lines of line protocol, messages on mapped topics, samples of imports and exports, and reasons of MQTT 5.',
      unit: 'short',
      queries: {
        'lines {{result}}': `sum by (result) (rate(iot_ingest_lines_total${OF}[$__rate_interval]))`,
        'mapped {{mapping}} {{result}}': `sum by (mapping, result) (rate(iot_ingest_mapped_messages_total${OF}[$__rate_interval]))`,
        'imported {{format}}': `sum by (format) (rate(iot_import_samples_total${OF}[$__rate_interval]))`,
        'exported {{format}}': `sum by (format) (rate(iot_export_samples_total${OF}[$__rate_interval]))`,
        'reason {{code}}': `sum by (code) (rate(iot_broker_reasons_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'Kafka: age',
      description:
        'The oldest block that waits, and how old the watermarks are. One to two hours are normal for those.',
      unit: 's',
      queries: {
        'waiting {{instance}}': `iot_stream_lag_seconds${OF}`,
        watermark: `max(iot_stream_watermark_lag_seconds${OF})`,
      },
    },
    {
      title: 'Kafka: queue',
      description:
        'Bytes of blocks that wait for Kafka. What finds no room is sent when its hour has closed.',
      unit: 'bytes',
      queries: {
        'waiting {{instance}}': `iot_stream_queue_bytes${OF}`,
        limit: `min(iot_stream_queue_limit_bytes${OF})`,
      },
    },
    {
      title: 'Kafka: records',
      description: 'What Kafka has taken, and what it took later.',
      unit: 'short',
      queries: {
        '{{topic}}/s': `sum by (topic) (rate(iot_stream_records_total${OF}[$__rate_interval]))`,
        'skipped/s': `sum(rate(iot_stream_skipped_total${OF}[$__rate_interval]))`,
        'completed/s': `sum(rate(iot_stream_completed_total${OF}[$__rate_interval]))`,
        'failures/s': `sum(rate(iot_stream_failures_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'Parquet: samples and files',
      description: 'What was written of finished days in a day, counted again where a day was rewritten.',
      unit: 'short',
      queries: {
        samples: `sum(increase(iot_parquet_rows_total${OF}[1d]))`,
        files: `sum(increase(iot_parquet_files_total${OF}[1d]))`,
        failures: `sum(increase(iot_parquet_failures_total${OF}[1d]))`,
      },
    },
    {
      title: 'Parquet: bytes',
      description: 'What was written of finished days in a day.',
      unit: 'bytes',
      queries: { bytes: `sum(increase(iot_parquet_bytes_total${OF}[1d]))` },
    },
    {
      title: 'Parquet: age',
      description: 'How old the newest hour is that the files include. One to two hours are normal.',
      unit: 's',
      queries: { age: `max(iot_parquet_lag_seconds${OF})` },
    },
    {
      title: 'Alarms: changes and evaluations',
      description: 'Evaluations that failed are repeated.',
      unit: 'short',
      queries: {
        '{{event}}/s': `sum by (event) (rate(iot_alarm_events_total${OF}[$__rate_interval]))`,
        'evaluated, ok {{ok}}/s': `sum by (ok) (rate(iot_alarm_evaluations_total${OF}[$__rate_interval]))`,
        'delivered to {{target}}: {{result}}/s': `sum by (target, result) (rate(iot_alarm_deliveries_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'Alarms: time to evaluate and to deliver',
      description:
        'From the commit to the end of the evaluation, and from there to the answer of the receiver.',
      unit: 's',
      queries: {
        'evaluated, p99': `histogram_quantile(0.99, sum by (le) (rate(iot_alarm_evaluation_seconds_bucket${OF}[$__rate_interval])))`,
        'delivered, p99': `histogram_quantile(0.99, sum by (le) (rate(iot_alarm_delivery_seconds_bucket${OF}[$__rate_interval])))`,
      },
    },
    {
      title: 'Alarms: rules and what waits',
      description: 'Sensors that wait for their evaluation, and deliveries that no receiver has taken.',
      unit: 'short',
      queries: {
        rules: `max(iot_alarm_rules${OF})`,
        'sensors {{instance}}': `iot_alarm_waiting${OF}`,
        deliveries: `max(iot_alarm_deliveries_pending${OF})`,
      },
    },
  ],
});
