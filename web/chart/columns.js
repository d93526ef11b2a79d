/** @import { Shape } from './shape.js' */

/** So many intervals without a sample are a gap. */
const GAP_INTERVALS = 3;
/** The same, for sensors without a known interval. */
const UNKNOWN_GAP_INTERVALS = 10;

/**
 * @typedef {[x: number[], avg: (number | null)[], max: (number | null)[], min: (number | null)[]]} Columns as uPlot takes them
 * @typedef {{ columns: Columns, places: number[] }} Drawn `places`: of each column entry the index in the shape, -1 for a gap
 */

/**
 * A line must not claim what nobody measured: where samples or bins are missing, it is broken.
 *
 * @param {Shape} shape
 * @param {number | null} intervalMs between two samples, from the device's birth
 * @returns {Drawn}
 */
export function drawn(shape, intervalMs) {
  const gapMs = gapOf(shape, intervalMs);
  /** @type {Columns} */
  const columns = [[], [], [], []];
  /** @type {number[]} */
  const places = [];
  const [x, avg, max, min] = columns;
  /** @param {number} at @param {number} ts */
  const push = (at, ts) => {
    x.push(ts);
    places.push(at);
    avg.push(shape.avg[at] ?? null);
    max.push(shape.max[at] ?? null);
    min.push(shape.min[at] ?? null);
  };
  for (const [at, ts] of shape.ts.entries()) {
    const before = at > 0 ? (shape.ts[at - 1] ?? ts) : ts;
    if (ts - before > gapMs) push(-1, ((x.at(-1) ?? 0) + middleOf(shape, at)) / 2);
    push(at, middleOf(shape, at));
  }
  return { columns, places };
}

/**
 * @param {Shape} shape
 * @param {number} at
 * @returns {number} epoch ms where it is drawn: a bin in the middle of what of it lies in the range
 */
export function middleOf({ ts, stepMs, from, to }, at) {
  const start = ts[at] ?? 0;
  if (stepMs === null) return start;
  const [left, right] = [Math.max(start, from), Math.min(start + stepMs, to)];
  return left < right ? (left + right) / 2 : start + stepMs / 2;
}

/**
 * @param {Shape} shape
 * @param {number | null} intervalMs
 * @returns {number} ms between two beginnings, beyond which something is missing
 */
function gapOf({ ts, stepMs, count }, intervalMs) {
  // Many sensors send less often than announced.
  const interval = Math.max(intervalMs ?? 0, medianDistance(ts));
  const gap = (intervalMs === null ? UNKNOWN_GAP_INTERVALS : GAP_INTERVALS) * interval;
  if (stepMs === null) return gap;
  const samples = count.reduce((sum, samplesOfBin) => sum + samplesOfBin, 0);
  // If bins usually have samples, each missing bin is a gap.
  return samples >= GAP_INTERVALS * ts.length ? 1.5 * stepMs : Math.max(1.5 * stepMs, gap + stepMs);
}

/** @param {number[]} ts @returns {number} ms, the median */
function medianDistance(ts) {
  const distances = ts.slice(1).map((at, index) => at - (ts[index] ?? 0));
  return distances.sort((a, b) => a - b)[distances.length >> 1] ?? 0;
}
