import { BUCKETS, LatencyHistogram } from './latency-histogram.js';
import { parseHealth } from './process-health.js';

/** @import { BucketCounts } from './latency-histogram.js' */
/** @import { HealthReport } from './process-health.js' */

/**
 * The counts of one second. `second`: epoch s.
 *
 * @typedef {{ second: number, samples: number, refused: number, commits: LatencyHistogram }} Slot
 */

/**
 * Counts of measurements by outcome. After all messages are settled, `received` is the sum of the other counts. A message that
 * is refused as a whole counts as one measurement.
 *
 * @typedef {object} MeasurementCounts
 * @property {number} received
 * @property {number} stored
 * @property {number} merged measurements that were merged with another measurement of the same message, sensor and instant
 * @property {number} refused
 * @property {number} skipped measurements that a rule skips, such as texts and nulls
 */

/** @type {MeasurementCounts} */
export const NO_MEASUREMENTS = { received: 0, stored: 0, merged: 0, refused: 0, skipped: 0 };

/** @param {MeasurementCounts[]} list @returns {MeasurementCounts} */
export function sumOf(list) {
  const sum = { ...NO_MEASUREMENTS };
  for (const counts of list) addTo(sum, counts);
  return sum;
}

/** @param {MeasurementCounts} sum is changed @param {MeasurementCounts} counts */
function addTo(sum, { received, stored, merged, refused, skipped }) {
  sum.received += received;
  sum.stored += stored;
  sum.merged += merged;
  sum.refused += refused;
  sum.skipped += skipped;
}

/** Number of past seconds that rates and latencies cover. */
const SECONDS = 5;

/** The stats of the pipeline of this process over the last seconds, for the dashboard. Prometheus has more detailed metrics. */
export class ProcessStats {
  #clock;
  #pressure;
  /** @type {() => number} */
  #readers = () => 0;
  #total = { ...NO_MEASUREMENTS };
  /** A ring of slots, one slot for each second. @type {Slot[]} */
  #slots = Array.from({ length: SECONDS + 1 }, () => ({
    second: 0,
    samples: 0,
    refused: 0,
    commits: new LatencyHistogram(),
  }));

  /**
   * @param {object} deps
   * @param {() => number} deps.clock epoch ms
   * @param {() => Pick<StatsSnapshot, 'in_flight' | 'window' | 'window_limit' | 'waiting'>} deps.pressure reads the load on the
   *   database
   */
  constructor({ clock, pressure }) {
    this.#clock = clock;
    this.#pressure = pressure;
  }

  /** Includes the number of stream clients in the stats. @param {() => number} readers returns the number */
  countReaders(readers) {
    this.#readers = readers;
  }

  /** Counts a settled message. @param {MeasurementCounts} counts @param {number} commitMs */
  note(counts, commitMs) {
    this.#add(counts).commits.record(commitMs);
  }

  /** Counts a message whose commit time is not recorded. @param {MeasurementCounts} counts */
  count(counts) {
    this.#add(counts);
  }

  /** @param {MeasurementCounts} counts @returns {Slot} the slot of this second */
  #add(counts) {
    addTo(this.#total, counts);
    const slot = this.#slotNow();
    slot.samples += counts.stored;
    slot.refused += counts.refused;
    return slot;
  }

  /** Counts of measurements of all settled messages since the process started. Replays and imports have their own reports. */
  get measurements() {
    return { ...this.#total };
  }

  /** Returns the stats of the last whole seconds. @returns {StatsSnapshot} */
  snapshot() {
    const now = Math.floor(this.#clock() / 1000);
    // Leave out the current second, because its counts are incomplete.
    const whole = this.#slots.filter(({ second }) => second < now && second >= now - SECONDS);
    const commits = new LatencyHistogram();
    for (const slot of whole) commits.add(slot.commits.list());
    const perSecond = (/** @type {'samples' | 'refused'} */ figure) =>
      whole.reduce((sum, slot) => sum + slot[figure], 0) / SECONDS;
    return {
      samples_per_s: perSecond('samples'),
      refused_per_s: perSecond('refused'),
      ...this.#pressure(),
      readers: this.#readers(),
      commits: commits.list(),
    };
  }

  /** Returns the stats of this process alone. */
  read() {
    return statsOf([this.snapshot()]);
  }

  /** Returns the slot of the current second. */
  #slotNow() {
    const second = Math.floor(this.#clock() / 1000);
    const slot = /** @type {Slot} */ (this.#slots[second % this.#slots.length]);
    if (slot.second !== second) {
      Object.assign(slot, { second, samples: 0, refused: 0 });
      slot.commits.reset();
    }
    return slot;
  }
}

/**
 * The stats of one process over the last seconds, as the process publishes them.
 *
 * @typedef {object} StatsSnapshot
 * @property {number} samples_per_s
 * @property {number} refused_per_s
 * @property {number} in_flight number of requests to the database that are in flight
 * @property {number} window current limit of requests in flight
 * @property {number} window_limit maximum of `window`
 * @property {number} waiting number of requests that wait for a permit
 * @property {number} readers number of stream clients
 * @property {BucketCounts} commits times from the receipt of a message to its commit
 * @property {HealthReport} [health] absent in snapshots of older versions
 */

/** Limit of a snapshot from the broker, in bytes. A larger snapshot is ignored. Real snapshots are smaller. */
const MAX_BYTES = 16 * 1024;

const FIGURES = /** @type {const} */ ([
  'samples_per_s',
  'refused_per_s',
  'in_flight',
  'window',
  'window_limit',
  'waiting',
  'readers',
]);

/**
 * Sums up the stats of several processes.
 *
 * @param {StatsSnapshot[]} snapshots
 */
export function statsOf(snapshots) {
  const commits = new LatencyHistogram();
  for (const snapshot of snapshots) commits.add(snapshot.commits);
  const sum = (/** @type {typeof FIGURES[number]} */ figure) =>
    snapshots.reduce((total, snapshot) => total + snapshot[figure], 0);
  const ms = (/** @type {number} */ percent) => {
    const time = commits.percentile(percent);
    return time === null ? null : round(time, 100);
  };
  return {
    samples_per_s: round(sum('samples_per_s'), 10),
    commit_ms: { p50: ms(50), p99: ms(99) },
    in_flight: sum('in_flight'),
    window: sum('window'),
    window_limit: sum('window_limit'),
    waiting: sum('waiting'),
    refused_per_s: round(sum('refused_per_s'), 10),
    readers: sum('readers'),
  };
}

/** @typedef {ReturnType<typeof statsOf>} Stats */

/** @param {number} value @param {number} scale 10 for one decimal */
const round = (value, scale) => Math.round(value * scale) / scale;

/**
 * Parses a snapshot that came from the broker. Any client can publish such a snapshot if the broker has no access control.
 *
 * @param {Buffer} payload
 * @returns {StatsSnapshot | null} null: the snapshot is not valid
 */
export function parseSnapshot(payload) {
  if (payload.length > MAX_BYTES) return null;
  try {
    const snapshot = JSON.parse(payload.toString());
    if (!FIGURES.every((figure) => isFigure(snapshot[figure])) || !isCounts(snapshot.commits)) return null;
    if (snapshot.health === undefined) return snapshot;
    const health = parseHealth(snapshot.health);
    return health && { ...snapshot, health };
  } catch {
    return null;
  }
}

/** Whether a value is a number from 0 to 10^12. The limit keeps sums finite, and sums of integers exact. @param {unknown} value */
const isFigure = (value) => typeof value === 'number' && value >= 0 && value <= 1e12;

/** @param {unknown} value @param {number} max */
const isCount = (value, max) => Number.isInteger(value) && isFigure(value) && Number(value) <= max;

/** @param {unknown} counts */
const isCounts = (counts) =>
  Array.isArray(counts) &&
  counts.every((pair) => Array.isArray(pair) && isCount(pair[0], BUCKETS - 1) && isCount(pair[1], 1e12));
