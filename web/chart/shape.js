/**
 * The data of a chart: raw samples, or bins of them. The arrays have one length, oldest first. For a sample, `min`,
 * `avg` and `max` are its value (and one array), and `count` is 1.
 *
 * @typedef {object} Shape
 * @property {number | null} stepMs width of a bin; null: these are samples
 * @property {number} from epoch ms of the range it was read for
 * @property {number} to epoch ms
 * @property {number[]} ts epoch ms; of a bin its beginning
 * @property {number[]} min
 * @property {(number | null)[]} avg null where it is beyond what a number can hold
 * @property {number[]} max
 * @property {number[]} count
 *
 * @typedef {{ from: number, to: number }} Range half-open, epoch ms
 */

/** @import { Series } from '../api/types.js' */

/** @param {Range} range @returns {Shape} */
export const emptyShape = ({ from, to }) => ({
  stepMs: null,
  from,
  to,
  ts: [],
  min: [],
  avg: [],
  max: [],
  count: [],
});

/** @param {Series} series @param {Range} range @returns {Shape} */
export function shapeOfBins({ points, step_ms }, { from, to }) {
  return {
    stepMs: step_ms,
    from,
    to,
    ts: points.map(({ ts }) => Date.parse(ts)),
    min: points.map(({ min }) => min),
    avg: points.map(({ avg }) => avg),
    max: points.map(({ max }) => max),
    count: points.map(({ count }) => count),
  };
}

/** @param {{ ts: number[], value: number[] }} samples oldest first @param {Range} range @returns {Shape} */
export function shapeOfSamples({ ts, value }, { from, to }) {
  return { stepMs: null, from, to, ts, min: value, avg: value, max: value, count: ts.map(() => 1) };
}

/** @param {number[]} sorted @param {number} at @returns {number} index of the first that is not before */
export function firstAtOrAfter(sorted, at) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The part of a shape that lies in a range. A bin that begins before the range is left out, since it counts samples from before it. A bin
 * that was read for this beginning was cut there, and stays.
 *
 * @param {Shape} shape
 * @param {Range} range
 * @returns {Shape} itself, where that is all of it
 */
export function within(shape, { from, to }) {
  const isCut = shape.stepMs !== null && shape.from >= from;
  const first = firstAtOrAfter(shape.ts, isCut ? from - (shape.stepMs ?? 0) + 1 : from);
  const end = firstAtOrAfter(shape.ts, to);
  if (first === 0 && end === shape.ts.length) return shape;
  const cut = (/** @type {any[]} */ column) => column.slice(first, end);
  const avg = cut(shape.avg);
  const isRaw = shape.stepMs === null;
  return {
    stepMs: shape.stepMs,
    from: Math.max(shape.from, from),
    to: Math.min(shape.to, to),
    ts: cut(shape.ts),
    min: isRaw ? avg : cut(shape.min),
    avg,
    max: isRaw ? avg : cut(shape.max),
    count: cut(shape.count),
  };
}

/**
 * A shape with a new end: `tail` replaces everything from `tail.from`.
 *
 * @param {Shape} shape
 * @param {Shape} tail of the same kind and step
 * @returns {Shape}
 */
export function join(shape, tail) {
  const end = firstAtOrAfter(shape.ts, tail.from);
  const isRaw = shape.stepMs === null;
  /** @template T @param {T[]} a @param {T[]} b */
  const both = (a, b) => [...a.slice(0, end), ...b];
  const avg = both(shape.avg, tail.avg);
  const values = /** @type {number[]} */ (avg);
  return {
    stepMs: shape.stepMs,
    from: shape.from,
    to: Math.max(shape.to, tail.to),
    ts: both(shape.ts, tail.ts),
    min: isRaw ? values : both(shape.min, tail.min),
    avg,
    max: isRaw ? values : both(shape.max, tail.max),
    count: both(shape.count, tail.count),
  };
}

/**
 * The same in wider bins.
 *
 * @param {Shape} shape
 * @param {number} stepMs a multiple of its own
 * @returns {Shape}
 */
export function coarsen(shape, stepMs) {
  const wide = { ...emptyShape(shape), stepMs };
  for (const [at, ts] of shape.ts.entries()) {
    const start = Math.floor(ts / stepMs) * stepMs;
    const last = wide.ts.length - 1;
    const [min = 0, avg = 0, max = 0, count = 0] = [
      shape.min[at],
      shape.avg[at],
      shape.max[at],
      shape.count[at],
    ];
    if (wide.ts[last] !== start) {
      wide.ts.push(start);
      wide.min.push(min);
      wide.avg.push(avg);
      wide.max.push(max);
      wide.count.push(count);
      continue;
    }
    const before = wide.count[last] ?? 0;
    const mean = wide.avg[last] ?? null;
    wide.min[last] = Math.min(wide.min[last] ?? min, min);
    wide.max[last] = Math.max(wide.max[last] ?? max, max);
    wide.avg[last] = mean === null || avg === null ? null : mean + ((avg - mean) * count) / (before + count);
    wide.count[last] = before + count;
  }
  return wide;
}
