import { afterAll, beforeAll } from '@jest/globals';
import fc from 'fast-check';
import uPlot from 'uplot';
import { coarsen, shapeOfSamples } from '../../../web/chart/shape.ts';
import { UTC } from '../../../web/format.ts';

type Point = { x: number; y: number };
type Column = (number | null | undefined)[];
type Strip = { left: number; right: number };
type Marks = {
  lines: Point[][];
  dots: Point[];
  radius: number;
  bars: { x: number; y: number; width: number; height: number }[];
};

/** Stands in for Path2D: records the points, rectangles and arcs of a path. */
class RecordedPath {
  points: Point[] = [];
  rects: Marks['bars'] = [];
  arcs: Marks['dots'] = [];

  moveTo() {}
  lineTo(x: number, y: number) {
    this.points.push({ x, y });
  }
  rect(x: number, y: number, width: number, height: number) {
    this.rects.push({ x, y, width, height });
  }
  arc(x: number, y: number) {
    this.arcs.push({ x, y });
  }
}

type LinePaths = { stroke: RecordedPath; clip: RecordedPath | null };
type DrawPoints = (...args: unknown[]) => { fill: RecordedPath };
/** Options of points as the charts of Millrace set them. */
type PointOptions = {
  show?: boolean;
  size: number;
  space?: number;
  filter?: (chart: uPlot, series: number, isShown: boolean) => number[] | null;
  paths?: DrawPoints;
};

const HEIGHT = 200;
/** Tolerance in pixels: half the width of a line, plus the rounding to whole pixels. */
const REACH = 2;

export const host = { clientWidth: 800, clientHeight: HEIGHT, append() {} } as never;
const globals = globalThis as Record<string, unknown>;
const before = { ...globals };
const ratio = uPlot.pxRatio;

/** Replaces the parts of a browser that uPlot uses. */
export function useChartRig() {
  beforeAll(() => {
    uPlot.pxRatio = 1;
    globals.Path2D = RecordedPath;
    globals.getComputedStyle = () => ({ getPropertyValue: (name: string) => name });
    globals.document = { createElement: () => ({ remove() {} }) };
  });
  afterAll(() => {
    uPlot.pxRatio = ratio;
    for (const name of ['Path2D', 'getComputedStyle', 'document']) globals[name] = before[name];
  });
}

export const common = { zone: UTC, cursorKey: undefined, onCursor() {} } as const;
/** Replaces the part of uPlot that its path builders use. The path builders themselves are those of uPlot. */
export function plot(
  options: Pick<uPlot.Options, 'series'>,
  data: Column[],
  { from, to }: { from: number; to: number },
  width: number,
) {
  const x = data[0] as number[];
  const values = data
    .slice(1)
    .flat()
    .filter((value): value is number => Number.isFinite(value));
  const [min, max] = [Math.min(...values) - 1, Math.max(...values) + 1];
  const scales = {
    x: {
      key: 'x',
      ori: 0,
      dir: 1,
      min: from,
      max: to,
      valToPct: (v: number) => (v - from) / (to - from),
    },
    y: { key: 'y', ori: 1, dir: 1, min, max, valToPct: (v: number) => (v - min) / (max - min) },
  };
  const toX = (v: number) => scales.x.valToPct(v) * width;
  const toY = (v: number) => (1 - scales.y.valToPct(v)) * HEIGHT;
  const nearest = (ts: number) =>
    x.reduce((best, at, entry) => (Math.abs(at - ts) < Math.abs(Number(x[best]) - ts) ? entry : best), 0);
  const idxs: [number, number] = [nearest(from), nearest(to)];
  const plain = {
    pxRound: Math.round,
    spanGaps: false,
    fill: null,
    gaps: (...all: unknown[]) => all[4],
  };
  const series = options.series.map((one, index) =>
    index === 0
      ? { scale: 'x', idxs, points: undefined }
      : { ...plain, points: { ...one.points, width: 0 }, scale: 'y', dash: one.dash },
  );
  const chart: uPlot = {
    mode: 1,
    data,
    _data: data,
    series,
    scales,
    bands: [],
    bbox: { left: 0, top: 0, width, height: HEIGHT },
    valToPos: (v: number, scale: string) => (scale === 'x' ? toX(v) : toY(v)),
    posToVal: (px: number) => from + (px / width) * (to - from),
    valToPosH: toX,
    valToPosV: toY,
  } as never;

  function marksOf(index: number): Marks {
    const column = data[index] ?? [];
    let [first, last] = [Math.max(idxs[0] - 1, 0), Math.min(idxs[1] + 1, x.length - 1)];
    while (column[first] == null && first > 0) first -= 1;
    while (column[last] == null && last < x.length - 1) last += 1;
    const paths = uPlot.paths.linear?.()(chart, index, first, last) as unknown as LinePaths;
    const strips = paths.clip
      ? paths.clip.rects.map((rect) => ({ left: rect.x, right: rect.x + rect.width }))
      : [{ left: 0, right: width }];
    const points = series[index]?.points as PointOptions;
    // uPlot shows points by their density, unless the options decide.
    const isDense =
      (idxs[1] - idxs[0]) * (points.space ?? 8) > toX(Number(x[idxs[1]])) - toX(Number(x[idxs[0]]));
    const isAll = points.show ?? !isDense;
    const chosen = points.filter?.(chart, index, isAll) ?? null;
    const drawPoints = points.paths ?? (uPlot.paths.points?.() as unknown as DrawPoints);
    const dots =
      isAll || chosen ? drawPoints(chart, index, idxs[0], idxs[1], chosen).fill : new RecordedPath();
    return {
      lines: clipped(paths.stroke.points, strips),
      dots: dots.arcs,
      radius: points.size / 2,
      bars: dots.rects,
    };
  }
  return { marksOf, toX, toY };
}

/** @returns the visible segments */
function clipped(points: Point[], strips: Strip[]): Point[][] {
  const segments = [];
  for (const [index, b] of points.entries()) {
    const a = points[index - 1];
    if (!a) continue;
    for (const { left, right } of strips) {
      const [start, end] = [Math.max(a.x, left), Math.min(b.x, right)];
      if (start > end || right <= left || (start === end && a.x !== b.x)) continue;
      const yAt = (px: number) => (a.x === b.x ? a.y : a.y + ((b.y - a.y) * (px - a.x)) / (b.x - a.x));
      segments.push([
        { x: start, y: yAt(start) },
        { x: end, y: a.x === b.x ? b.y : yAt(end) },
      ]);
    }
  }
  return segments;
}

function distanceTo([a = { x: 0, y: 0 }, b = { x: 0, y: 0 }]: Point[], { x, y }: Point) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const share =
    dx || dy ? Math.min(Math.max(((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy), 0), 1) : 0;
  return Math.hypot(x - a.x - share * dx, y - a.y - share * dy);
}

const isNear = ([a, b]: Point[], { x }: Point) => Number(a?.x) <= x + REACH && Number(b?.x) >= x - REACH;

export const isMarked = (marks: Marks[], point: Point) =>
  marks.some(
    ({ lines, dots, radius, bars }) =>
      dots.some(({ x, y }) => Math.hypot(x - point.x, y - point.y) <= radius) ||
      bars.some(
        ({ x, y, width, height }) =>
          Math.abs(point.x - x - width / 2) <= width / 2 + 1 && point.y >= y - 1 && point.y <= y + height + 1,
      ) ||
      lines.some((segment) => isNear(segment, point) && distanceTo(segment, point) <= REACH),
  );

/** A sample history of several pieces: each has its own interval, and begins after a pause. */
export const anyHistory = fc
  .array(
    fc.record({
      interval: fc.constantFrom(1, 5, 1000, 10_000, 60_000),
      number: fc.integer({ min: 1, max: 60 }),
      pause: fc.constantFrom(1, 1000, 7000, 60_000, 900_000),
      seed: fc.integer({ min: 0, max: 1000 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((pieces) => {
    let now = 0;
    return pieces.flatMap(({ interval, number, pause, seed }) => {
      now += pause;
      return Array.from({ length: number }, (_, index) => {
        now += interval;
        return { ts: now, value: (seed * 37 + index * index * 13) % 101 };
      });
    });
  });

export const anyPicture = fc.record({
  history: anyHistory,
  begins: fc.double({ min: 0, max: 0.9, noNaN: true }),
  length: fc.double({ min: 0.01, max: 1, noNaN: true }),
  width: fc.integer({ min: 200, max: 2500 }),
  /** width of a bin in pixels; 0: single samples */
  binWidth: fc.constantFrom(0, 1, 3, 8),
  intervalMs: fc.constantFrom(null, 1, 1000, 10_000, 60_000),
});

export function shapeIn(
  history: { ts: number; value: number }[],
  window: { from: number; to: number },
  step: number,
) {
  const seen = history.filter(({ ts }) => ts >= window.from && ts < window.to);
  const samples = shapeOfSamples(
    { ts: seen.map(({ ts }) => ts), value: seen.map(({ value }) => value) },
    window,
  );
  return step === 0 ? samples : coarsen(samples, step);
}

export function layOut({
  history,
  begins,
  length,
  width,
  binWidth,
}: {
  history: { ts: number }[];
  begins: number;
  length: number;
  width: number;
  binWidth: number;
}) {
  const span = (history.at(-1)?.ts ?? 0) + 1;
  const from = Math.floor(span * begins);
  const window = { from, to: Math.ceil(from + Math.max(span * length, 1)) };
  const step = binWidth === 0 ? 0 : Math.max(Math.ceil((binWidth * (window.to - from)) / width), 2);
  return { window, step };
}
