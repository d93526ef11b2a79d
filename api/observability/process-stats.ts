import { BUCKETS, type BucketCounts, LatencyHistogram } from './hot-metrics.ts';
import { type HealthReport, parseHealth } from './process-health.ts';

/** `second`: epoch s */
type Slot = { second: number; samples: number; refused: number; commits: LatencyHistogram };

/**
 * After all messages are settled, `received` is the sum of the other counts. A message that is refused as a whole
 * counts as one measurement.
 */
export interface MeasurementCounts {
  received: number;
  stored: number;
  /** with another measurement of the same message, sensor and instant */
  merged: number;
  refused: number;
  /** those that a rule skips, such as texts and nulls */
  skipped: number;
}

export const NO_MEASUREMENTS: MeasurementCounts = {
  received: 0,
  stored: 0,
  merged: 0,
  refused: 0,
  skipped: 0,
};

export function sumOf(list: MeasurementCounts[]): MeasurementCounts {
  const sum = { ...NO_MEASUREMENTS };
  for (const counts of list) addTo(sum, counts);
  return sum;
}

function addTo(sum: MeasurementCounts, { received, stored, merged, refused, skipped }: MeasurementCounts) {
  sum.received += received;
  sum.stored += stored;
  sum.merged += merged;
  sum.refused += refused;
  sum.skipped += skipped;
}

/** Rates and latencies cover this period. */
const WINDOW_S = 5;

/** The dashboard shows them. Prometheus has more detailed metrics. */
export class ProcessStats {
  #clock;
  #pressure;
  #readers: () => number = () => 0;
  #journalMs: () => number = () => 0;
  #total = { ...NO_MEASUREMENTS };
  #slots: Slot[] = Array.from({ length: WINDOW_S + 1 }, () => ({
    second: 0,
    samples: 0,
    refused: 0,
    commits: new LatencyHistogram(),
  }));

  constructor({
    clock,
    pressure,
  }: {
    /** epoch ms */
    clock: () => number;
    pressure: () => Pick<StatsSnapshot, 'in_flight' | 'window' | 'window_limit' | 'waiting'>;
  }) {
    this.#clock = clock;
    this.#pressure = pressure;
  }

  countReaders(readers: () => number) {
    this.#readers = readers;
  }

  /** `ageMs`: of the oldest sample of the journal whose row is not written yet; 0: no such sample */
  followJournal(ageMs: () => number) {
    this.#journalMs = ageMs;
  }

  note(counts: MeasurementCounts, commitMs: number) {
    this.#add(counts).commits.record(commitMs);
  }

  /** The commit time of the message is not recorded. */
  count(counts: MeasurementCounts) {
    this.#add(counts);
  }

  #add(counts: MeasurementCounts): Slot {
    addTo(this.#total, counts);
    const slot = this.#slotNow();
    slot.samples += counts.stored;
    slot.refused += counts.refused;
    return slot;
  }

  /** Without replays and samples of files, which have their own reports. */
  get measurements() {
    return { ...this.#total };
  }

  snapshot(): StatsSnapshot {
    const now = Math.floor(this.#clock() / 1000);
    // Leave out the current second, because its counts are incomplete.
    const whole = this.#slots.filter(({ second }) => second < now && second >= now - WINDOW_S);
    const commits = new LatencyHistogram();
    for (const slot of whole) commits.add(slot.commits.list());
    const perSecond = (figure: 'samples' | 'refused') =>
      whole.reduce((sum, slot) => sum + slot[figure], 0) / WINDOW_S;
    return {
      samples_per_s: perSecond('samples'),
      refused_per_s: perSecond('refused'),
      ...this.#pressure(),
      journal_ms: Math.round(this.#journalMs()),
      readers: this.#readers(),
      commits: commits.list(),
    };
  }

  read() {
    return statsOf([this.snapshot()]);
  }

  #slotNow() {
    const second = Math.floor(this.#clock() / 1000);
    const slot = this.#slots[second % this.#slots.length] as Slot;
    if (slot.second !== second) {
      Object.assign(slot, { second, samples: 0, refused: 0 });
      slot.commits.reset();
    }
    return slot;
  }
}

export interface StatsSnapshot {
  samples_per_s: number;
  refused_per_s: number;
  /** requests to the database */
  in_flight: number;
  /** current limit of requests in flight */
  window: number;
  window_limit: number;
  /** requests that wait for a permit */
  waiting: number;
  /** age of the oldest sample in the journal; absent in snapshots of older versions */
  journal_ms?: number;
  /** stream clients */
  readers: number;
  /** times from the receipt of a message to its commit */
  commits: BucketCounts;
  /** absent in snapshots of older versions */
  health?: HealthReport;
}

/** Real snapshots are smaller. A larger snapshot from the broker is ignored. */
const MAX_BYTES = 16 * 1024;

const FIGURES = [
  'samples_per_s',
  'refused_per_s',
  'in_flight',
  'window',
  'window_limit',
  'waiting',
  'readers',
] as const;

export function statsOf(snapshots: StatsSnapshot[]) {
  const commits = new LatencyHistogram();
  for (const snapshot of snapshots) commits.add(snapshot.commits);
  const sum = (figure: (typeof FIGURES)[number]) =>
    snapshots.reduce((total, snapshot) => total + snapshot[figure], 0);
  const ms = (percent: number) => {
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
    journal_ms: Math.max(0, ...snapshots.map(({ journal_ms = 0 }) => journal_ms)),
    refused_per_s: round(sum('refused_per_s'), 10),
    readers: sum('readers'),
  };
}

export type Stats = ReturnType<typeof statsOf>;

const round = (value: number, scale: number) => Math.round(value * scale) / scale;

/** Any client can publish a snapshot if the broker has no access control. Returns null for an invalid snapshot. */
export function parseSnapshot(payload: Buffer): StatsSnapshot | null {
  if (payload.length > MAX_BYTES) return null;
  try {
    const snapshot = JSON.parse(payload.toString());
    if (!FIGURES.every((figure) => isFigure(snapshot[figure])) || !isFigure(snapshot.journal_ms ?? 0))
      return null;
    if (!isCounts(snapshot.commits)) return null;
    if (snapshot.health === undefined) return snapshot;
    const health = parseHealth(snapshot.health);
    return health && { ...snapshot, health };
  } catch {
    return null;
  }
}

/** The limit keeps sums finite, and sums of integers exact. */
const isFigure = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1e12;

const isCount = (value: unknown, max: number) =>
  Number.isInteger(value) && isFigure(value) && Number(value) <= max;

const isCounts = (counts: unknown) =>
  Array.isArray(counts) &&
  counts.every((pair) => Array.isArray(pair) && isCount(pair[0], BUCKETS - 1) && isCount(pair[1], 1e12));
