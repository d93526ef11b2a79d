/** Rates and latencies are those of this many past seconds. */
const SECONDS = 5;

/**
 * What the pipeline of this process does right now, over the last seconds: for people who watch. Prometheus has its own,
 * finer counts.
 *
 * @param {object} parts
 * @param {() => number} parts.clock epoch ms
 * @param {() => Pick<StatsSnapshot, 'in_flight' | 'window' | 'window_limit' | 'waiting'>} parts.pressure on the database
 * @param {() => number} [parts.readers] how many follow the stream
 */
export function createProcessStats({ clock, pressure, readers = () => 0 }) {
  const slots = Array.from({ length: SECONDS + 1 }, () => ({
    second: 0,
    samples: 0,
    refused: 0,
    commits: createLatencyCounts(),
  }));

  function slotNow() {
    const second = Math.floor(clock() / 1000);
    const slot = /** @type {typeof slots[number]} */ (slots[second % slots.length]);
    if (slot.second !== second) {
      Object.assign(slot, { second, samples: 0, refused: 0 });
      slot.commits.reset();
    }
    return slot;
  }

  /** @returns {StatsSnapshot} */
  function snapshot() {
    const now = Math.floor(clock() / 1000);
    // The second that runs is not whole yet.
    const whole = slots.filter(({ second }) => second < now && second >= now - SECONDS);
    const commits = createLatencyCounts();
    for (const slot of whole) commits.add(slot.commits.list());
    const perSecond = (/** @type {'samples' | 'refused'} */ figure) =>
      whole.reduce((sum, slot) => sum + slot[figure], 0) / SECONDS;
    return {
      samples_per_s: perSecond('samples'),
      refused_per_s: perSecond('refused'),
      ...pressure(),
      readers: readers(),
      commits: commits.list(),
    };
  }

  return {
    /**
     * @param {{ samples: number, refused: number, commitMs: number }} message one that is settled
     */
    note({ samples, refused, commitMs }) {
      const slot = slotNow();
      slot.samples += samples;
      slot.refused += refused;
      slot.commits.record(commitMs);
    },

    snapshot,

    read: () => statsOf([snapshot()]),
  };
}

/** @typedef {ReturnType<typeof createProcessStats>} ProcessStats */

/** Buckets of a doubling: each is 4.4 % wide, so a percentile is right within 2.2 %. */
const PER_DOUBLING = 16;

/** Longest time that is told apart, in µs. */
const LONGEST_US = 600_000_000;

const bucketOf = (/** @type {number} */ us) =>
  Math.floor(Math.log2(Math.min(LONGEST_US, Math.max(1, us))) * PER_DOUBLING);

/** Bucket b holds times from 2^(b / 16) µs on. */
export const BUCKETS = bucketOf(LONGEST_US) + 1;

/** The middle of a bucket. @param {number} bucket @returns {number} ms */
const msOf = (bucket) => 2 ** ((bucket + 0.5) / PER_DOUBLING) / 1000;

/** How many times fell into which bucket, empty ones left out: those of several processes can be added. @typedef {Array<[bucket: number, count: number]>} BucketCounts */

/** Times, counted in buckets that grow with them. */
export function createLatencyCounts() {
  const counts = new Float64Array(BUCKETS);
  let total = 0;

  /** @param {number} bucket @param {number} count */
  function count(bucket, count) {
    counts[bucket] = (counts[bucket] ?? 0) + count;
    total += count;
  }

  return {
    /** @param {number} ms */
    record: (ms) => count(bucketOf(ms * 1000), 1),

    /** @param {BucketCounts} others */
    add(others) {
      for (const [bucket, more] of others) count(bucket, more);
    },

    reset() {
      counts.fill(0);
      total = 0;
    },

    /** @returns {BucketCounts} */
    list: () => [...counts].flatMap((count, bucket) => (count > 0 ? [[bucket, count]] : [])),

    /** @param {number} percent @returns {number | null} ms; null: nothing is counted */
    percentile(percent) {
      const rank = Math.ceil((total * percent) / 100);
      let passed = 0;
      for (const [bucket, count] of counts.entries()) {
        passed += count;
        if (count > 0 && passed >= rank) return msOf(bucket);
      }
      return null;
    },
  };
}

/**
 * What one process does, over the last seconds, as it tells the others.
 *
 * @typedef {object} StatsSnapshot
 * @property {number} samples_per_s
 * @property {number} refused_per_s
 * @property {number} in_flight requests to the database
 * @property {number} window how many of them may be in flight now
 * @property {number} window_limit how many at most
 * @property {number} waiting how many wait for a place
 * @property {number} readers how many follow the stream
 * @property {BucketCounts} commits times from the receipt of a message to its commit
 */

/** Larger than any of ours, in bytes. */
const LONGEST = 16 * 1024;

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
 * What some processes do together.
 *
 * @param {StatsSnapshot[]} snapshot of each
 */
export function statsOf(snapshot) {
  const commits = createLatencyCounts();
  for (const one of snapshot) commits.add(one.commits);
  const sum = (/** @type {typeof FIGURES[number]} */ figure) =>
    snapshot.reduce((total, one) => total + one[figure], 0);
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

/** @param {number} value @param {number} parts of one */
const round = (value, parts) => Math.round(value * parts) / parts;

/**
 * Reads what came from the broker. Nobody else may publish there, but a broker without rights lets everybody.
 *
 * @param {Buffer} payload
 * @returns {StatsSnapshot | null} null: not ours
 */
export function readSigns(payload) {
  if (payload.length > LONGEST) return null;
  try {
    const snapshot = JSON.parse(payload.toString());
    return FIGURES.every((figure) => isFigure(snapshot[figure])) && isCounts(snapshot.commits)
      ? snapshot
      : null;
  } catch {
    return null;
  }
}

/** So that sums stay figures, and whole ones exact. @param {unknown} value */
const isFigure = (value) => typeof value === 'number' && value >= 0 && value <= 1e12;

/** @param {unknown} value @param {number} most */
const isWhole = (value, most) => Number.isInteger(value) && isFigure(value) && Number(value) <= most;

/** @param {unknown} counts */
const isCounts = (counts) =>
  Array.isArray(counts) &&
  counts.every((pair) => Array.isArray(pair) && isWhole(pair[0], BUCKETS - 1) && isWhole(pair[1], 1e12));
