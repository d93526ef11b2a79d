import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const COMMIT_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const PACK_BUCKETS = [0.1, 1, 3, 10, 30, 60, 180, 600, 1800, 3600];

/**
 * What this process counts, for Prometheus. No label grows with the fleet.
 *
 * @param {{ version: string, role: string }} build
 */
export function createMetrics({ version, role }) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'iot_build_info',
    help: 'Version and role of this process; always 1',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version, role }, 1);

  return {
    registry,
    messages: new Counter({
      name: 'iot_ingest_messages_total',
      help: 'Messages by what became of them: settled, foreign (outside the contract, dropped), unsettled (left to the broker)',
      labelNames: ['result'],
      registers,
    }),
    samples: new Counter({
      name: 'iot_ingest_samples_total',
      help: 'Samples committed',
      registers,
    }),
    skipped: new Counter({
      name: 'iot_ingest_skipped_total',
      help: 'Elements of a kind that is not stored: texts and data of SenML, texts, structures and nulls of Sparkplug',
      registers,
    }),
    relative: new Counter({
      name: 'iot_ingest_relative_times_total',
      help: 'Samples whose time was relative to now, or missing: redelivery may store them twice',
      registers,
    }),
    conflicts: new Counter({
      name: 'iot_ingest_conflicts_total',
      help: 'Instants for which one message had two values',
      registers,
    }),
    refused: new Counter({
      name: 'iot_ingest_dead_letters_total',
      help: 'Measurements refused, by code',
      labelNames: ['code'],
      registers,
    }),
    oversized: new Counter({
      name: 'iot_ingest_oversized_total',
      help: 'Connections closed because a message was over MAX_MESSAGE_BYTES',
      registers,
    }),
    late: new Counter({
      name: 'iot_ingest_late_samples_total',
      help: 'Samples that came after their hour had closed, and went into history by themselves',
      registers,
    }),
    packedHours: new Counter({
      name: 'iot_pack_hours_total',
      help: 'Hours of sensors packed into history',
      registers,
    }),
    packedSamples: new Counter({
      name: 'iot_pack_samples_total',
      help: 'Samples packed into history',
      registers,
    }),
    packSeconds: new Histogram({
      name: 'iot_pack_seconds',
      help: 'Packing one hour of one group of devices, giving way to ingest included',
      buckets: PACK_BUCKETS,
      registers,
    }),
    unreadableRows: new Counter({
      name: 'iot_pack_unreadable_rows_total',
      help: 'Rows that this process could not read when it packed their hour',
      registers,
    }),
    retries: new Counter({
      name: 'iot_ingest_retries_total',
      help: 'Requests repeated because the database did not take them',
      registers,
    }),
    rebirths: new Counter({
      name: 'iot_sparkplug_rebirth_requests_total',
      help: 'Sparkplug edge nodes asked to be born anew: messages of them were missed, or not understood',
      registers,
    }),
    largePartitions: new Counter({
      name: 'iot_ingest_large_partitions_total',
      help: 'Hours of a device that grew past what a partition should hold',
      registers,
    }),
    live: new Counter({
      name: 'iot_live_messages_total',
      help: 'Messages on iot/live: published, dropped (the broker is away or slow), ignored (heard, and not ours)',
      labelNames: ['result'],
      registers,
    }),
    healed: new Counter({
      name: 'iot_live_healed_total',
      help: 'Values that readers were told because reading them again found them changed',
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'iot_ingest_commit_seconds',
      help: 'From the receipt of a message to its last commit',
      buckets: COMMIT_BUCKETS,
      registers,
    }),
    databaseSeconds: new Histogram({
      name: 'iot_db_request_seconds',
      help: 'Requests to the database, by statement and outcome',
      labelNames: ['query', 'ok'],
      buckets: COMMIT_BUCKETS,
      registers,
    }),
    staleIndexRows: new Counter({
      name: 'iot_db_stale_index_rows_total',
      help: 'Index rows that latest contradicted',
      labelNames: ['index'],
      registers,
    }),
    httpSeconds: new Histogram({
      name: 'iot_http_request_seconds',
      help: 'HTTP requests, by route, method and status',
      labelNames: ['route', 'method', 'status'],
      buckets: COMMIT_BUCKETS,
      registers,
    }),

    /**
     * A value that is read when Prometheus asks.
     *
     * @param {string} name
     * @param {string} help
     * @param {() => number} read
     */
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
}

/** @typedef {ReturnType<typeof createMetrics>} Metrics */
