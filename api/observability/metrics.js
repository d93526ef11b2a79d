import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERRORS } from '../../common/errors.js';

const COMMIT_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const END_TO_END_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const PACK_BUCKETS = [0.1, 1, 3, 10, 30, 60, 180, 600, 1800, 3600];

/**
 * The state of a certificate in use.
 *
 * @typedef {object} CertificateState
 * @property {string} purpose
 * @property {number} expires epoch seconds
 * @property {boolean} refused the files have a new certificate that cannot be used
 */

/**
 * The metrics of this process for Prometheus. A test compares them with `docs/metrics.md`. Invariant: the number of label values does
 * not grow with the fleet.
 *
 * @param {{ version: string, role: string }} build
 */
export function createMetrics({ version, role }) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  /** @param {string} name @param {string} help @param {string[]} labelNames */
  const counter = (name, help, ...labelNames) => new Counter({ name, help, labelNames, registers });
  /** @param {string} name @param {string} help @param {number[]} buckets @param {string[]} labelNames */
  const histogram = (name, help, buckets, ...labelNames) =>
    new Histogram({ name, help, labelNames, buckets, registers });

  new Gauge({
    name: 'iot_build_info',
    help: 'Version and role of this process; always 1',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version, role }, 1);

  return {
    registry,

    messages: counted(
      counter(
        'iot_ingest_messages_total',
        'Messages by what became of them: settled, unknown_topic (outside the contract, dropped), unsettled (left to the broker)',
        'result',
      ),
      'result',
      ['settled', 'unknown_topic', 'unsettled'],
    ),
    samples: counter('iot_ingest_samples_total', 'Samples committed'),
    skipped: counter(
      'iot_ingest_skipped_total',
      'Elements of a kind that is not stored: texts and data of SenML, texts, structures and nulls of Sparkplug',
    ),
    relative: counter(
      'iot_ingest_relative_times_total',
      'Samples whose time was relative to now, or missing: redelivery may store them twice',
    ),
    conflicts: counter('iot_ingest_conflicts_total', 'Instants for which one message had two values'),
    refused: counted(
      counter('iot_ingest_dead_letters_total', 'Measurements refused, by code', 'code'),
      'code',
      Object.entries(ERRORS).flatMap(([code, { kind }]) => (kind === 'refusal' ? [code] : [])),
    ),
    oversized: counter(
      'iot_ingest_oversized_total',
      'Connections closed because a message was over MAX_MESSAGE_BYTES',
    ),
    connectionsRefused: counter(
      'iot_connections_refused_total',
      'Connections closed by listener (mqtt, http): crowded (too many said nothing yet), silent (no CONNECT in time), full',
      'listener',
      'reason',
    ),
    turnedAway: counter(
      'iot_broker_turned_away_total',
      'What the embedded broker refused for want of rights: sign_in, will (not let in), publish (connection closed), subscribe; filters: too many or too long; connection: a fifth of an account closed its oldest',
      'what',
    ),
    late: counter(
      'iot_ingest_late_samples_total',
      'Samples that came after their hour had closed, and went into history by themselves',
    ),
    retries: counter('iot_ingest_retries_total', 'Requests repeated because the database did not take them'),
    largePartitions: counter(
      'iot_ingest_large_partitions_total',
      'Hours of a device that grew past what a partition should hold',
    ),
    commitSeconds: histogram(
      'iot_ingest_commit_seconds',
      'From the receipt of a message to its last commit',
      COMMIT_BUCKETS,
    ),
    endToEndSeconds: histogram(
      'iot_ingest_end_to_end_seconds',
      "From the newest sample's own time, by the device's clock, to its commit, once for each message of now",
      END_TO_END_BUCKETS,
    ),

    packedHours: counter('iot_pack_hours_total', 'Hours of sensors packed into history'),
    packedSamples: counter('iot_pack_samples_total', 'Samples packed into history'),
    packSeconds: histogram(
      'iot_pack_seconds',
      'Packing one hour of one group of devices, giving way to ingest included',
      PACK_BUCKETS,
    ),
    unreadableRows: counter(
      'iot_pack_unreadable_rows_total',
      'Rows that this process could not read when it packed their hour',
    ),

    rebirths: counter(
      'iot_sparkplug_rebirth_requests_total',
      'Sparkplug edge nodes asked for a rebirth, because messages were lost or not understood',
    ),
    live: counted(
      counter(
        'iot_live_messages_total',
        'Messages on iot/live: published, dropped (the broker is away or slow), ignored (received, and not valid)',
        'result',
      ),
      'result',
      ['published', 'dropped', 'ignored'],
    ),
    healed: counter('iot_live_healed_total', 'Values that readers got because a resync found them changed'),
    forwardsDropped: counter(
      'iot_broker_forwards_dropped_total',
      'Messages that the embedded broker did not hand to a subscriber that reads too slowly',
    ),

    databaseSeconds: histogram(
      'iot_db_request_seconds',
      'Requests to the database, by statement and outcome',
      COMMIT_BUCKETS,
      'query',
      'ok',
    ),
    brokenQueryRules: counted(
      counter(
        'iot_db_wrong_habits_total',
        'Requests to the database that were unprepared, unpaged, filtering (ALLOW FILTERING), or not at CQL_CONSISTENCY',
        'habit',
      ),
      'habit',
      ['unprepared', 'unpaged', 'filtering', 'consistency'],
    ),
    staleIndexRows: counted(
      counter('iot_db_stale_index_rows_total', 'Index rows that latest contradicted', 'index'),
      'index',
      ['type', 'site', 'name', 'device_site'],
    ),

    httpSeconds: histogram(
      'iot_http_request_seconds',
      'HTTP requests, by route, method and status',
      COMMIT_BUCKETS,
      'route',
      'method',
      'status',
    ),
    httpInFlight: new Gauge({
      name: 'iot_http_in_flight',
      help: 'HTTP requests being answered, readers of the stream included',
      registers,
    }),

    /**
     * @param {() => CertificateState[]} states read when Prometheus asks
     */
    certificates(states) {
      new Gauge({
        name: 'iot_tls_certificate_expires_seconds',
        help: 'When a certificate in use ends, epoch seconds: our own of http, mqtt and cql, and the authorities in CQL_TLS_CA and MQTT_TLS_CA',
        labelNames: ['purpose'],
        registers,
        collect() {
          for (const { purpose, expires } of states()) this.set({ purpose }, expires);
        },
      });
      new Gauge({
        name: 'iot_tls_certificate_refused',
        help: '1 while the files of a certificate cannot be used: the one before goes on being served',
        labelNames: ['purpose'],
        registers,
        collect() {
          for (const { purpose, refused } of states()) this.set({ purpose }, Number(refused));
        },
      });
    },

    /**
     * Registers a gauge that is read at each scrape.
     *
     * @param {string} name
     * @param {string} help
     * @param {() => number} read NaN: no value, and the sample is left out; in Prometheus one NaN makes every sum, average and
     *   increase NaN
     */
    gauge(name, help, read) {
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

    /**
     * Registers a gauge with one value per state, read at each scrape.
     *
     * @param {string} name
     * @param {string} help
     * @param {() => Record<string, number>} read by state
     */
    states(name, help, read) {
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

/** @typedef {ReturnType<typeof createMetrics>} Metrics */

/**
 * Starts a counter at 0 for each value of a label. Prometheus sees no increase in a counter that first appears as 1.
 *
 * @param {Counter<string>} counter
 * @param {string} label
 * @param {string[]} values
 */
function counted(counter, label, values) {
  for (const value of values) counter.inc({ [label]: value }, 0);
  return counter;
}
