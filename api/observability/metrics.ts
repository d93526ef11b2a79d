import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { ERRORS } from '../../common/errors.ts';
import { FastCounter, FastHistogram } from './fast-metrics.ts';

const COMMIT_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const END_TO_END_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const PACK_BUCKETS = [0.1, 1, 3, 10, 30, 60, 180, 600, 1800, 3600];

export interface CertificateState {
  purpose: string;
  /** epoch seconds */
  expires: number;
  /** whether its files now contain a new certificate that cannot be used */
  refused: boolean;
}

/** A test compares these metrics with `docs/reference/metrics.md`. The number of label values does not grow with the number of devices. */
export function createMetrics({ version, role }: { version: string; role: string }) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });

  /** Cheap enough for counts of each message. */
  function fastCounter(name: string, help: string) {
    const count = new FastCounter();
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.inc(count.take());
      },
    });
    return count;
  }

  function fastHistogram(name: string, help: string, buckets: number[]) {
    const fast = new FastHistogram({ name, help, buckets });
    // A registry calls only `get`, but its type lists the classes of prom-client.
    registry.registerMetric(fast as unknown as Metric);
    return fast;
  }

  new Gauge({
    name: 'iot_build_info',
    help: 'Version and role of this process; always 1',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version, role }, 1);

  const alarmDeliveries = counter(
    'iot_alarm_deliveries_total',
    'Deliveries of alarms by target (webhook, alertmanager) and result: delivered, failed (repeated later), dead (given up after a day)',
    'target',
    'result',
  );
  for (const target of ['webhook', 'alertmanager'])
    counted(alarmDeliveries, 'result', ['delivered', 'failed', 'dead'], { target });

  const settledMessages = new FastCounter();
  const messages = new Counter({
    name: 'iot_ingest_messages_total',
    help: 'Messages by result: settled, forbidden (dropped: of another device), unknown_topic (dropped: no mapping), unsettled (left to the broker)',
    labelNames: ['result'],
    registers,
    collect() {
      this.inc({ result: 'settled' }, settledMessages.take());
    },
  });

  return {
    registry,

    messages: counted(messages, 'result', ['settled', 'forbidden', 'unknown_topic', 'unsettled']),
    /** `messages` with the result `settled`. Most messages have this result, so it is a fast counter. */
    settledMessages,
    mapped: counter(
      'iot_ingest_mapped_messages_total',
      'Messages on mapped topics, by mapping of MQTT_MAPPINGS and by result: read, skipped',
      'mapping',
      'result',
    ),
    samples: fastCounter('iot_ingest_samples_total', 'Samples committed'),
    merged: counter(
      'iot_ingest_merged_total',
      'Measurements that are stored as one with another of their message, which has the same sensor and instant',
    ),
    skipped: counter(
      'iot_ingest_skipped_total',
      'Not stored by rule: texts, bytes, nulls, further members of JSON, what mappings and LINE_SKIP leave out, and transient values, templates, commands and bdSeq of Sparkplug',
    ),
    lines: counted(
      counter(
        'iot_ingest_lines_total',
        'Lines of line protocol by result: stored, refused (in whole or in part), skipped (by LINE_SKIP)',
        'result',
      ),
      'result',
      ['stored', 'refused', 'skipped'],
    ),
    relative: counter(
      'iot_ingest_relative_times_total',
      'Samples with a relative time or none: a redelivery may store them twice',
    ),
    conflicts: counter('iot_ingest_conflicts_total', 'Instants with two values in one message'),
    refused: counted(
      counter('iot_ingest_dead_letters_total', 'Refused measurements, by code', 'code'),
      'code',
      Object.entries(ERRORS).flatMap(([code, { kind }]) => (kind === 'refusal' ? [code] : [])),
    ),
    oversized: counter(
      'iot_ingest_oversized_total',
      'Messages over MAX_MESSAGE_BYTES at the embedded broker, and other packets that are too large',
    ),
    connectionsRefused: counter(
      'iot_connections_refused_total',
      'Connections closed by a listener (mqtt, http): crowded (too many connections without a request yet), silent (no CONNECT in time), full',
      'listener',
      'reason',
    ),
    denied: counter(
      'iot_broker_denied_total',
      'Actions that the embedded broker denied: sign_in, will, publish, subscribe, filters (too many or too long), connection (more than 4 of an account)',
      'action',
    ),
    reasons: counter(
      'iot_broker_reasons_total',
      'Reason codes that the embedded broker sent to clients of MQTT 5, such as 135 not authorized, 151 quota, 153 wrong payload',
      'code',
    ),
    late: counter(
      'iot_ingest_late_samples_total',
      'Samples that arrived after their hour closed, and were written to history one by one',
    ),
    retries: counter('iot_ingest_retries_total', 'Repeated requests to the database'),
    largePartitions: counter(
      'iot_ingest_large_partitions_total',
      'Hours of a device that exceeded the recommended size of a partition',
    ),
    commitSeconds: fastHistogram(
      'iot_ingest_commit_seconds',
      'Time from the receipt of a message to its last commit',
      COMMIT_BUCKETS,
    ),
    endToEndSeconds: fastHistogram(
      'iot_ingest_end_to_end_seconds',
      "Time from the newest sample of a message, by the device's clock, to its commit; only messages with current samples",
      END_TO_END_BUCKETS,
    ),

    packedHours: counter('iot_pack_hours_total', 'Hours of sensors packed into history'),
    packedSamples: counter('iot_pack_samples_total', 'Samples packed into history'),
    packSeconds: histogram(
      'iot_pack_seconds',
      'Time to pack one hour of one group of devices, including its waits for ingest',
      PACK_BUCKETS,
    ),
    unreadableRows: counter('iot_pack_unreadable_rows_total', 'Rows that packing could not read'),
    learnedBaselines: counter(
      'iot_baseline_learned_total',
      'Baselines of sensors that were learned, one a day',
    ),

    streamRecords: counter('iot_stream_records_total', 'Records that Kafka has taken, by topic', 'topic'),
    streamSkipped: counter(
      'iot_stream_skipped_total',
      'Blocks that found no room in the queue for Kafka. They are sent when their hour has closed',
    ),
    streamCompleted: counter(
      'iot_stream_completed_total',
      'Blocks that were sent to Kafka after their hour had closed',
    ),
    streamFailures: counter(
      'iot_stream_failures_total',
      'Requests that Kafka did not take, and that are repeated',
    ),
    parquetFiles: counter('iot_parquet_files_total', 'Parquet files of days that were written'),
    parquetRows: counter('iot_parquet_rows_total', 'Samples in Parquet files of days that were written'),
    parquetBytes: counter('iot_parquet_bytes_total', 'Bytes of Parquet files of days that were written'),
    parquetFailures: counter(
      'iot_parquet_failures_total',
      'Checks for finished days that failed, and are repeated',
    ),

    alarmEvents: counted(
      counter(
        'iot_alarm_events_total',
        'Changes of alarms: opened, cleared, acknowledged, corrected',
        'event',
      ),
      'event',
      ['opened', 'cleared', 'acknowledged', 'corrected'],
    ),
    alarmEvaluations: counted(
      counter(
        'iot_alarm_evaluations_total',
        'Evaluations of an alarm rule for a sensor, by success; those that failed are repeated',
        'ok',
      ),
      'ok',
      ['true', 'false'],
    ),
    alarmEvaluationSeconds: histogram(
      'iot_alarm_evaluation_seconds',
      'Time from the commit of samples to the end of their evaluation, of those that may change an alarm',
      COMMIT_BUCKETS,
    ),
    alarmDeliveries,
    alarmDeliverySeconds: histogram(
      'iot_alarm_delivery_seconds',
      'Time from the change of an alarm to the answer of its receiver',
      END_TO_END_BUCKETS,
    ),

    rebirths: counter(
      'iot_sparkplug_rebirth_requests_total',
      'Births that were requested from Sparkplug edge nodes after lost or unreadable messages',
    ),
    live: counted(
      counter(
        'iot_live_messages_total',
        'Messages on iot/live: published, dropped (the broker is unavailable or slow), ignored (received, but not from Millrace)',
        'result',
      ),
      'result',
      ['published', 'dropped', 'ignored'],
    ),
    resynced: counter('iot_live_resynced_total', 'Lost changes that a resync found and sent to readers'),
    forwardsDropped: counter(
      'iot_broker_forwards_dropped_total',
      'Messages that the embedded broker dropped for a subscriber that reads too slowly',
    ),

    exportedSamples: counted(
      counter('iot_export_samples_total', 'Samples that left in exports, by format', 'format'),
      'format',
      ['csv', 'ndjson', 'parquet', 'arrow'],
    ),

    importedSamples: counted(
      counter(
        'iot_import_samples_total',
        'Samples of files that were imported over HTTP, by format',
        'format',
      ),
      'format',
      ['csv', 'ndjson', 'parquet'],
    ),

    databaseSeconds: histogram(
      'iot_db_request_seconds',
      'Time of requests to the database, by statement and success',
      COMMIT_BUCKETS,
      'query',
      'ok',
    ),
    brokenQueryRules: counted(
      counter(
        'iot_db_query_rule_violations_total',
        'Requests to the database that were unprepared, unpaged, filtering (ALLOW FILTERING), or not at CQL_CONSISTENCY',
        'rule',
      ),
      'rule',
      ['unprepared', 'unpaged', 'filtering', 'consistency'],
    ),
    staleIndexRows: counted(
      counter('iot_db_stale_index_rows_total', 'Index rows that contradicted latest', 'index'),
      'index',
      ['type', 'site', 'name', 'device_site'],
    ),

    httpSeconds: histogram(
      'iot_http_request_seconds',
      'Time of HTTP requests, by route, method and status',
      COMMIT_BUCKETS,
      'route',
      'method',
      'status',
    ),
    httpInFlight: new Gauge({
      name: 'iot_http_in_flight',
      help: 'Running HTTP requests, including readers of the live stream',
      registers,
    }),

    certificates(states: () => CertificateState[]) {
      new Gauge({
        name: 'iot_tls_certificate_expires_seconds',
        help: 'Expiry of a certificate in use, epoch seconds: those of http, mqtt and cql, and the authorities in CQL_TLS_CA and MQTT_TLS_CA',
        labelNames: ['purpose'],
        registers,
        collect() {
          for (const { purpose, expires } of states()) this.set({ purpose }, expires);
        },
      });
      new Gauge({
        name: 'iot_tls_certificate_refused',
        help: '1 while the files of a certificate cannot be used, and the previous one stays in use',
        labelNames: ['purpose'],
        registers,
        collect() {
          for (const { purpose, refused } of states()) this.set({ purpose }, Number(refused));
        },
      });
    },

    /** A NaN omits the sample, because in Prometheus a NaN makes every sum, average and increase NaN. */
    gauge(name: string, help: string, read: () => number) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          const value = read();
          if (Number.isNaN(value)) this.remove();
          else this.set(value);
        },
      });
    },

    states(name: string, help: string, read: () => Record<string, number>) {
      new Gauge({
        name,
        help,
        labelNames: ['state'],
        registers,
        collect() {
          for (const [state, count] of Object.entries(read())) this.set({ state }, count);
        },
      });
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** If a series first appears with 1, Prometheus sees no increase. So each starts with 0. */
function counted(
  counter: Counter<string>,
  label: string,
  values: string[],
  others: Record<string, string> = {},
) {
  for (const value of values) counter.inc({ ...others, [label]: value }, 0);
  return counter;
}
