import { BUCKETS, createLatencyCounts } from './latency-counts.js';

/**
 * What one process does, over the last seconds, as it tells the others.
 *
 * @typedef {object} VitalSigns
 * @property {number} samples_per_s
 * @property {number} refused_per_s
 * @property {number} in_flight requests to the database
 * @property {number} window how many of them may be in flight now
 * @property {number} window_most how many at most
 * @property {number} waiting how many wait for a place
 * @property {number} readers how many follow the stream
 * @property {import('./latency-counts.js').BucketCounts} commits times from the receipt of a message to its commit
 */

/** Larger than any of ours, in bytes. */
const LONGEST = 16 * 1024;

const FIGURES = /** @type {const} */ ([
  'samples_per_s',
  'refused_per_s',
  'in_flight',
  'window',
  'window_most',
  'waiting',
  'readers',
]);

/**
 * What some processes do together.
 *
 * @param {VitalSigns[]} signs of each
 */
export function statsOf(signs) {
  const commits = createLatencyCounts();
  for (const one of signs) commits.add(one.commits);
  const sum = (/** @type {typeof FIGURES[number]} */ figure) =>
    signs.reduce((total, one) => total + one[figure], 0);
  const ms = (/** @type {number} */ percent) => {
    const time = commits.percentile(percent);
    return time === null ? null : round(time, 100);
  };
  return {
    samples_per_s: round(sum('samples_per_s'), 10),
    commit_ms: { p50: ms(50), p99: ms(99) },
    in_flight: sum('in_flight'),
    window: sum('window'),
    window_most: sum('window_most'),
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
 * @returns {VitalSigns | null} null: not ours
 */
export function readSigns(payload) {
  if (payload.length > LONGEST) return null;
  try {
    const signs = JSON.parse(payload.toString());
    return FIGURES.every((figure) => isFigure(signs[figure])) && isCounts(signs.commits) ? signs : null;
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
