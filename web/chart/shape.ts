import type { Series } from '../api/types.ts';
import { typicalStep } from '../kit/figure.tsx';

/**
 * The data of a chart: single samples, or bins. All arrays have equal lengths, and begin with the oldest. For a sample, `min`,
 * `avg` and `max` are one shared array with the value of the sample, and `count` is 1.
 */
export interface Shape {
  /** width of a bin in ms; null: the points are samples */
  stepMs: number | null;
  from: number;
  to: number;
  /** times of the samples, or starts of the bins, in epoch ms */
  ts: number[];
  min: number[];
  /** averages; null: the average is beyond the number range */
  avg: (number | null)[];
  max: number[];
  count: number[];
}

/** A half-open range of time in epoch ms. */
export type Range = { from: number; to: number };

export const emptyShape = ({ from, to }: Range): Shape => ({
  stepMs: null,
  from,
  to,
  ts: [],
  min: [],
  avg: [],
  max: [],
  count: [],
});

export function shapeOfBins(
  { points, step_ms }: Pick<Series, 'points' | 'step_ms'> & { source?: string },
  { from, to }: Range,
): Shape {
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

/** @param samples samples, oldest first */
export function shapeOfSamples({ ts, value }: { ts: number[]; value: number[] }, { from, to }: Range): Shape {
  return { stepMs: null, from, to, ts, min: value, avg: value, max: value, count: ts.map(() => 1) };
}

/** @returns index of the first time in the list that is not before `at` */
export function firstAtOrAfter(sorted: number[], at: number): number {
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
 * Returns the part of a shape that lies in a range. A bin that starts before the range is left out, because it counts samples
 * from before the range. If the shape was read for a range with this start, the API cut the bin there, so it stays.
 *
 * @returns the same object if the range covers the whole shape
 */
export function within(shape: Shape, { from, to }: Range): Shape {
  const isCut = shape.stepMs !== null && shape.from >= from;
  const first = firstAtOrAfter(shape.ts, isCut ? from - (shape.stepMs ?? 0) + 1 : from);
  const end = firstAtOrAfter(shape.ts, to);
  if (first === 0 && end === shape.ts.length) return shape;
  const cut = <T>(column: T[]) => column.slice(first, end);
  const avg = cut(shape.avg);
  const values = avg as number[];
  const isRaw = shape.stepMs === null;
  return {
    stepMs: shape.stepMs,
    from: Math.max(shape.from, from),
    to: Math.min(shape.to, to),
    ts: cut(shape.ts),
    min: isRaw ? values : cut(shape.min),
    avg,
    max: isRaw ? values : cut(shape.max),
    count: cut(shape.count),
  };
}

/** `tail` replaces everything from `tail.from`. It has samples, or bins of equal width. */
export function join(shape: Shape, tail: Shape): Shape {
  const end = firstAtOrAfter(shape.ts, tail.from);
  const isRaw = shape.stepMs === null;
  const both = <T>(a: T[], b: T[]) => [...a.slice(0, end), ...b];
  const avg = both(shape.avg, tail.avg);
  const values = avg as number[];
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

/** Combines the bins of a shape into wider bins. @param stepMs a multiple of the bin width of the shape */
export function coarsen(shape: Shape, stepMs: number): Shape {
  const wide = { ...emptyShape(shape), stepMs };
  for (const [at, ts] of shape.ts.entries()) addBin(wide, Math.floor(ts / stepMs) * stepMs, shape, at);
  return wide;
}

/** Adds a bin to the last of the wider bins if that one begins at `start`, otherwise to a new one. */
export function addBin(wide: Shape, start: number, shape: Shape, at: number) {
  const last = wide.ts.length - 1;
  const [min = 0, avg = null, max = 0, count = 0] = [
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
    return;
  }
  const before = wide.count[last] ?? 0;
  const mean = wide.avg[last] ?? null;
  wide.min[last] = Math.min(wide.min[last] ?? min, min);
  wide.max[last] = Math.max(wide.max[last] ?? max, max);
  wide.avg[last] = mean === null || avg === null ? null : mean + ((avg - mean) * count) / (before + count);
  wide.count[last] = before + count;
}

/** Number of intervals without a sample that count as a gap. */
const GAP_INTERVALS = 3;
/** Number of intervals without a sample that count as a gap, for sensors without a known interval. */
const UNKNOWN_GAP_INTERVALS = 10;

export type Columns = [x: number[], avg: (number | null)[], max: (number | null)[], min: (number | null)[]];

/** The data columns of a shape. `places`: index in the shape for each column entry; -1: the entry is a gap */
export type Drawn = { columns: Columns; places: number[] };

/** Converts a shape to columns for uPlot. The line breaks where samples or bins are missing. */
export function drawn(shape: Shape, intervalMs: number | null): Drawn {
  const isGap = gapFinder(shape, intervalMs);
  const columns: Columns = [[], [], [], []];
  const places: number[] = [];
  const [x, avg, max, min] = columns;
  const push = (at: number, ts: number) => {
    x.push(ts);
    places.push(at);
    avg.push(shape.avg[at] ?? null);
    max.push(shape.max[at] ?? null);
    min.push(shape.min[at] ?? null);
  };
  for (const at of shape.ts.keys()) {
    if (at > 0 && isGap(at)) push(-1, ((x.at(-1) ?? 0) + middleOf(shape, at)) / 2);
    push(at, middleOf(shape, at));
  }
  return { columns, places };
}

/** @returns time in epoch ms at which a point is drawn: for a bin, the middle of the part of the bin that lies within the range */
export function middleOf({ ts, stepMs, from, to }: Shape, at: number): number {
  const start = ts[at] ?? 0;
  if (stepMs === null) return start;
  const [left, right] = [Math.max(start, from), Math.min(start + stepMs, to)];
  return left < right ? (left + right) / 2 : start + stepMs / 2;
}

/** Compares each interval with those around it, so that a sensor that becomes slower or sends batches has no gaps. */
function gapFinder({ ts, stepMs, count }: Shape, intervalMs: number | null): (at: number) => boolean {
  const stepOfBin = stepMs ?? 0;
  const distances = ts.slice(1).map((next, at) => next - (ts[at] ?? 0));
  const intervals = distances.map((distance, at) => distance / (count[at] || 1));
  return (at) => {
    const distance = distances[at - 1] ?? 0;
    if (distance <= stepOfBin + GAP_INTERVALS * (intervalMs ?? 0)) return false;
    // Many sensors send less often than announced.
    const around = typicalStep(intervals, at - 1) || distance;
    const interval = Math.max(intervalMs ?? 0, around);
    const isKnown = intervalMs !== null || GAP_INTERVALS * interval <= stepOfBin;
    const longest = stepOfBin + (isKnown ? GAP_INTERVALS : UNKNOWN_GAP_INTERVALS) * interval;
    return distance > Math.max(1.5 * stepOfBin, longest);
  };
}

/**
 * Finds the entries that no line shows, because they lie between two gaps. @param values null: a gap; undefined: only
 * another line has a sample there
 */
export function loneEntries(
  values: ArrayLike<number | null | undefined>,
  [first, last]: [first: number, last: number],
  xOf: (entry: number) => number,
  least: number,
): number[] {
  const lone: number[] = [];
  let run: number[] = [];
  const endRun = () => {
    const [left = 0, right = 0] = [run[0], run.at(-1)];
    if (run.length > 0 && xOf(right) - xOf(left) < least) for (const entry of run) lone.push(entry);
    run = [];
  };
  for (let entry = first; entry <= last; entry += 1) {
    if (values[entry] === null) endRun();
    else if (values[entry] !== undefined) run.push(entry);
  }
  endRun();
  return lone;
}
