import { collectDefaultMetrics, Registry } from 'prom-client';
import { COMMIT_BUCKETS, declareCommits, declareMessages, declareRefusals } from './ingest-metrics.ts';
import { counted, MetricDeclarations } from './metric-declarations.ts';

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
  collectDefaultMetrics({ register: registry });
  const declare = new MetricDeclarations(registry);
  declare
    .gauge('iot_build_info', 'Version and role of this process; always 1', 'version', 'role')
    .set({ version, role }, 1);

  return {
    registry,
    /** for metrics of features */
    declare,
    ...declareMessages(declare),
    ...declareRefusals(declare),
    ...declareCommits(declare),
    ...declareHistory(declare),
    ...declareLive(declare),
    ...declareDatabase(declare),
    ...declareHttp(declare),

    certificates(states: () => CertificateState[]) {
      declare.collectedGauge(
        'iot_tls_certificate_expires_seconds',
        'Expiry of a certificate in use, epoch seconds: those of http, mqtt and cql, and the authorities in CQL_TLS_CA and MQTT_TLS_CA',
        ['purpose'],
        (gauge) => {
          for (const { purpose, expires } of states()) gauge.set({ purpose }, expires);
        },
      );
      declare.collectedGauge(
        'iot_tls_certificate_refused',
        '1 while the files of a certificate cannot be used, and the previous one stays in use',
        ['purpose'],
        (gauge) => {
          for (const { purpose, refused } of states()) gauge.set({ purpose }, Number(refused));
        },
      );
    },

    /** A NaN omits the sample, because in Prometheus a NaN makes every sum, average and increase NaN. */
    gauge(name: string, help: string, read: () => number) {
      declare.collectedGauge(name, help, [], (gauge) => {
        const value = read();
        if (Number.isNaN(value)) gauge.remove();
        else gauge.set(value);
      });
    },

    states(name: string, help: string, read: () => Record<string, number>) {
      declare.collectedGauge(name, help, ['state'], (gauge) => {
        for (const [state, count] of Object.entries(read())) gauge.set({ state }, count);
      });
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

function declareHistory(declare: MetricDeclarations) {
  return {
    packedHours: declare.counter('iot_pack_hours_total', 'Hours of sensors packed into history'),
    packedSamples: declare.counter('iot_pack_samples_total', 'Samples packed into history'),
    packSeconds: declare.histogram(
      'iot_pack_seconds',
      'Time to pack one hour of one group of devices, including its waits for ingest',
      PACK_BUCKETS,
    ),
    unreadableRows: declare.counter('iot_pack_unreadable_rows_total', 'Rows that packing could not read'),
  };
}

function declareLive(declare: MetricDeclarations) {
  return {
    live: counted(
      declare.counter(
        'iot_live_messages_total',
        'Messages on iot/live: published, dropped (the broker is unavailable or slow), ignored (received, but not from Millrace)',
        'result',
      ),
      'result',
      ['published', 'dropped', 'ignored'],
    ),
    resynced: declare.counter(
      'iot_live_resynced_total',
      'Lost changes that a resync found and sent to readers',
    ),
    forwardsDropped: declare.counter(
      'iot_broker_forwards_dropped_total',
      'Messages that the embedded broker dropped for a subscriber that reads too slowly',
    ),
  };
}

function declareDatabase(declare: MetricDeclarations) {
  return {
    databaseSeconds: declare.histogram(
      'iot_db_request_seconds',
      'Time of requests to the database, by statement and success',
      COMMIT_BUCKETS,
      'query',
      'ok',
    ),
    brokenQueryRules: counted(
      declare.counter(
        'iot_db_query_rule_violations_total',
        'Requests to the database that were unprepared, unpaged, filtering (ALLOW FILTERING), or not at CQL_CONSISTENCY',
        'rule',
      ),
      'rule',
      ['unprepared', 'unpaged', 'filtering', 'consistency'],
    ),
    staleIndexRows: counted(
      declare.counter('iot_db_stale_index_rows_total', 'Index rows that contradicted latest', 'index'),
      'index',
      ['type', 'site', 'name', 'device_site'],
    ),
  };
}

function declareHttp(declare: MetricDeclarations) {
  return {
    httpSeconds: declare.histogram(
      'iot_http_request_seconds',
      'Time of HTTP requests, by route, method and status',
      COMMIT_BUCKETS,
      'route',
      'method',
      'status',
    ),
    httpInFlight: declare.gauge(
      'iot_http_in_flight',
      'Running HTTP requests, including readers of the live stream',
    ),
  };
}
