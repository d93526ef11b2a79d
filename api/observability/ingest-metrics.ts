import { ERRORS } from '../../common/errors.ts';
import { counted, type MetricDeclarations } from './metric-declarations.ts';

export const COMMIT_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
export const END_TO_END_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

/** The contents of messages, and their outcomes. */
export function declareMessages(declare: MetricDeclarations) {
  const { counter, count } = declare.resultCounter(
    'iot_ingest_messages_total',
    'Messages by result: settled, forbidden (dropped: of another device), unknown_topic (dropped: nothing reads it), unsettled (left to the broker)',
    'settled',
  );
  return {
    messages: counted(counter, 'result', ['settled', 'forbidden', 'unknown_topic', 'unsettled']),
    /** `messages` with the result `settled`. Most messages have this result, so it is a fast counter. */
    settledMessages: count,
    samples: declare.fastCounter('iot_ingest_samples_total', 'Samples committed'),
    merged: declare.counter(
      'iot_ingest_merged_total',
      'Measurements that are stored as one with another of their message, which has the same sensor and instant',
    ),
    skipped: declare.counter(
      'iot_ingest_skipped_total',
      'Not stored by rule: texts, bytes, nulls, further JSON members, and values that the rules of a feature skip',
    ),
    relative: declare.counter(
      'iot_ingest_relative_times_total',
      'Samples with a relative time or none: a redelivery may store them twice',
    ),
    conflicts: declare.counter('iot_ingest_conflicts_total', 'Instants with two values in one message'),
    refused: counted(
      declare.counter('iot_ingest_dead_letters_total', 'Refused measurements, by code', 'code'),
      'code',
      Object.entries(ERRORS).flatMap(([code, { kind }]) => (kind === 'refusal' ? [code] : [])),
    ),
  };
}

/** Refusals of the listeners and the embedded broker. */
export function declareRefusals(declare: MetricDeclarations) {
  return {
    oversized: declare.counter(
      'iot_ingest_oversized_total',
      'Messages over MAX_MESSAGE_BYTES at the embedded broker, and other packets that are too large',
    ),
    connectionsRefused: declare.counter(
      'iot_connections_refused_total',
      'Connections closed by a listener (mqtt, http): crowded (too many connections without a request yet), silent (no CONNECT in time), full',
      'listener',
      'reason',
    ),
    denied: declare.counter(
      'iot_broker_denied_total',
      'Actions that the embedded broker denied: sign_in, will, publish, subscribe, filters (too many or too long), connection (more than 4 of an account)',
      'action',
    ),
    reasons: declare.counter(
      'iot_broker_reasons_total',
      'Reason codes that the embedded broker sent to clients of MQTT 5, such as 135 not authorized, 151 quota, 153 wrong payload',
      'code',
    ),
  };
}

export function declareCommits(declare: MetricDeclarations) {
  return {
    late: declare.counter(
      'iot_ingest_late_samples_total',
      'Samples that arrived after their hour closed, and were written to history one by one',
    ),
    corrected: counted(
      declare.counter(
        'iot_corrected_samples_total',
        'Samples that corrections replaced or removed, and those of undone corrections',
        'kind',
      ),
      'kind',
      ['replace', 'remove', 'undo'],
    ),
    retries: declare.counter('iot_ingest_retries_total', 'Repeated requests to the database'),
    largePartitions: declare.counter(
      'iot_ingest_large_partitions_total',
      'Hours of a device that exceeded the recommended size of a partition',
    ),
    commitSeconds: declare.fastHistogram(
      'iot_ingest_commit_seconds',
      'Time from the receipt of a message to its last commit',
      COMMIT_BUCKETS,
    ),
    endToEndSeconds: declare.fastHistogram(
      'iot_ingest_end_to_end_seconds',
      "Time from the newest sample of a message, by the device's clock, to its commit; only messages with current samples",
      END_TO_END_BUCKETS,
    ),
  };
}
