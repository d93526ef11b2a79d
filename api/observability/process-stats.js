import { BUCKETS, LatencyHistogram } from './latency-histogram.js';
import { parseHealth } from './process-health.js';

/** @import { BucketCounts } from './latency-histogram.js' */
/** @import { HealthReport } from './process-health.js' */

/** The figures of one second. @typedef {{ second: number, samples: number, refused: number, commits: LatencyHistogram }} Slot `second`: epoch s */

/**
 * Counts of measurements by outcome. For settled messages `received` is the sum of the others. A message that
 * is refused as a whole counts as one measurement.
 *
 * @typedef {object} MeasurementCounts
 * @property {number} received
 * @property {number} stored
 * @property {number} merged with another of the same sensor and instant in their message
 * @property {number} refused
 * @property {number} skipped by rule: texts, nulls and the like
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

/** Rates and latencies cover this many past seconds. */
const SECONDS = 5;

/** The stats of this process's pipeline over the last seconds, for the dashboard. Prometheus has finer metrics. */
export class ProcessStats {
  #clock;
  #pressure;
  /** @type {() => number} */
  #readers = () => 0;
  #total = { ...NO_MEASUREMENTS };
  /** One slot for each second, in a ring. @type {Slot[]} */
  #slots = Array.from({ length: SECONDS + 1 }, () => ({
    second: 0,
    samples: 0,
    refused: 0,
    commits: new LatencyHistogram(),
  }));

  /**
   * @param {object} deps
   * @param {() => number} deps.clock epoch ms
   * @param {() => Pick<StatsSnapshot, 'in_flight' | 'window' | 'window_limit' | 'waiting'>} deps.pressure on the database
   */
  constructor({ clock, pressure }) {
    this.#clock = clock;
    this.#pressure = pressure;
  }

  /** Reports the subscribers of the stream, too. @param {() => number} readers counts them */
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

  /** Measurements of all settled messages since the process started. Replays and imports have their own reports. */
  get measurements() {
    return { ...this.#total };
  }

  /** Sums up the last whole seconds. @returns {StatsSnapshot} */
  snapshot() {
    const now = Math.floor(this.#clock() / 1000);
    // Leave out the current second, which is incomplete.
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

  /** The statistics of this process alone. */
  read() {
    return statsOf([this.snapshot()]);
  }

  /** The slot of this second. */
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
 * The stats of one process over the last seconds, as it publishes them.
 *
 * @typedef {object} StatsSnapshot
 * @property {number} samples_per_s
 * @property {number} refused_per_s
 * @property {number} in_flight requests to the database
 * @property {number} window current limit of requests in flight
 * @property {number} window_limit maximum of that limit
 * @property {number} waiting requests that wait for a permit
 * @property {number} readers subscribers of the stream
 * @property {BucketCounts} commits times from the receipt of a message to its commit
 * @property {HealthReport} [health] absent in snapshots of older versions
 */

/** Limit of a payload, in bytes. Real ones are smaller. */
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
 * Parses a snapshot from the broker. Other clients can publish there if the broker has no access control.
 *
 * @param {Buffer} payload
 * @returns {StatsSnapshot | null} null: not a valid snapshot
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

/** The limit keeps sums finite, and sums of integers exact. @param {unknown} value */
const isFigure = (value) => typeof value === 'number' && value >= 0 && value <= 1e12;

/** @param {unknown} value @param {number} max */
const isCount = (value, max) => Number.isInteger(value) && isFigure(value) && Number(value) <= max;

/** @param {unknown} counts */
const isCounts = (counts) =>
  Array.isArray(counts) &&
  counts.every((pair) => Array.isArray(pair) && isCount(pair[0], BUCKETS - 1) && isCount(pair[1], 1e12));
