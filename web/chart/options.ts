import uPlot from 'uplot';
import type { Zone } from '../format.ts';
import {
  formatClock,
  formatDay,
  formatMonth,
  formatTicks,
  formatTime,
  formatTimeMs,
  formatYear,
} from '../format.ts';
import { loneEntries } from './shape.ts';

/** Minimum distance of samples in pixels, from which each gets a dot, which distinguishes it from the line between samples. */
const DOT_SPACE = 10;
export const DOT_SIZE = 4;
/** Samples between two gaps get dots if they are narrower together than this, in pixels. */
const LEAST_RUN = 3;
/** Width in pixels of the bar that shows minimum to maximum of a bin without neighbors. */
const BAR_WIDTH = 2;
const TEXT_SIZE = 12;
/** Minimum width of the value axis in CSS pixels. Linked charts align as long as their labels are not longer than usual. */
const LEAST_AXIS_WIDTH = 60;
const DIGIT_WIDTH = 7;
/** Half the width of the widest time label in pixels, so that the last label is not cut at the edge of the chart. */
const TIME_HALF = 32;
/** Minimum distance between two time labels, in pixels; a label is about 60 wide. */
export const TIME_SPACE = 84;

export const textScale = (color: (name: string) => string): number =>
  Number.parseFloat(color('--text-scale')) || 1;

/** @returns the font of the text in charts; uPlot reads whole pixels only */
export const chartFont = (color: (name: string) => string, ratio = 1): string =>
  `${Math.round(TEXT_SIZE * textScale(color) * ratio)}px system-ui, sans-serif`;

/** Largest distance at which the cursor reads a point, in CSS pixels. */
export const REACH = 10;

export function chartOptions({
  host,
  zone,
  cursorKey,
  isRaw,
  entryUnder,
  onCursor,
  onPlot,
}: {
  host: HTMLElement;
  zone: Zone;
  cursorKey: string | undefined;
  isRaw: () => boolean;
  entryUnder: (ts: number, reachMs: number) => number | null;
  /** receives the column entry under the cursor and its time; null: the cursor is outside of the chart */
  onCursor: (index: number | null, ts: number | null) => void;
  onPlot: (edges: Edges) => void;
}): uPlot.Options {
  const color = colorsOf(host);
  const edge = { stroke: 'transparent', width: 0, points: { show: false } };
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    ms: 1,
    padding: [8, TIME_HALF * textScale(color), 0, 0],
    legend: { show: false },
    tzDate: dateIn(zone),
    cursor: cursorOptions(color, cursorKey, entryUnder),
    select: { show: true, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: true, auto: false },
      y: { range: (_chart, min, max) => comfortableRange(min, max) },
    },
    series: [
      {},
      {
        stroke: color('--line'),
        fill: () => (isRaw() ? color('--line-area') : 'transparent'),
        width: 1.5,
        points: {
          space: DOT_SPACE,
          size: DOT_SIZE,
          fill: color('--line'),
          filter: (chart, series, isAll) => (isAll ? null : loneEntriesOf(chart, series)),
          paths: dotsAndBars,
        },
      },
      edge,
      edge,
    ],
    bands: [{ series: [2, 3], fill: color('--line-band') }],
    axes: axesOptions(color, zone),
    hooks: {
      setCursor: [(chart) => onCursor(chart.cursor.idxs?.[1] ?? null, timeUnder(chart))],
      draw: [(chart) => onPlot(edgesOf(chart))],
    },
  };
}

export function loneEntriesOf(chart: uPlot, series: number): number[] {
  const [x = [], values = []] = [chart.data[0], chart.data[series]];
  const { left, width } = chart.bbox;
  const xOf = (entry: number) =>
    Math.min(Math.max(chart.valToPos(Number(x[entry]), 'x', true), left), left + width);
  const [first = 0, last = -1] = chart.series[0]?.idxs ?? [];
  return loneEntries(values, [first, last], xOf, LEAST_RUN * uPlot.pxRatio);
}

/** Draws the dots of averages, and a bar from minimum to maximum for each bin that no band shows. */
const dotsAndBars: uPlot.Series.Points.PathBuilder = (chart, series, first, last, entries) => {
  const paths = uPlot.paths.points?.()(chart, series, first, last, entries) ?? null;
  const [x, , max = [], min = []] = chart.data;
  const bars = paths?.fill;
  if (!(bars instanceof Path2D)) return paths;
  const width = BAR_WIDTH * uPlot.pxRatio;
  for (const entry of loneEntriesOf(chart, 2)) {
    const [left, top, bottom] = [
      chart.valToPos(Number(x[entry]), 'x', true) - width / 2,
      chart.valToPos(Number(max[entry]), 'y', true),
      chart.valToPos(Number(min[entry]), 'y', true),
    ];
    if (bottom > top) bars.rect(left, top, width, bottom - top);
  }
  return paths;
};

/** Space left and right of the plot of a chart, in CSS pixels. */
export type Edges = { left: number; right: number };

function edgesOf({ bbox, width }: uPlot): Edges {
  const left = bbox.left / uPlot.pxRatio;
  return { left, right: Math.max(width - left - bbox.width / uPlot.pxRatio, 0) };
}

/** @returns time in epoch ms under the cursor; null: the cursor is outside of the chart */
function timeUnder(chart: uPlot): number | null {
  const { left = -1 } = chart.cursor;
  return left < 0 ? null : chart.posToVal(left, 'x');
}

function cursorOptions(
  color: (name: string) => string,
  cursorKey: string | undefined,
  entryUnder: (ts: number, reachMs: number) => number | null,
): uPlot.Cursor {
  const none = () => null;
  return {
    y: false,
    drag: { x: false, y: false },
    // gestures.ts handles these events.
    bind: { mousedown: none, mouseup: none, click: none, dblclick: none },
    dataIdx: (chart, series, closest, ts) => (series === 0 ? closest : entryUnder(ts, reachOf(chart))),
    points: {
      size: (_chart, index) => (index === 1 ? 9 : 6),
      width: 2,
      stroke: color('--surface'),
      fill: color('--line'),
    },
    ...(cursorKey ? { sync: { key: cursorKey, setSeries: false, scales: ['x', null] } } : {}),
  };
}

const reachOf = (chart: uPlot): number => chart.posToVal(REACH, 'x') - chart.posToVal(0, 'x');

export const baseAxis = (color: (name: string) => string): uPlot.Axis => ({
  font: chartFont(color),
  stroke: color('--ink-2'),
  ticks: { show: false },
  grid: { stroke: color('--rule'), width: 1 },
  border: { show: false },
});

function axesOptions(color: (name: string) => string, zone: Zone): uPlot.Axis[] {
  const axis = baseAxis(color);
  const scale = textScale(color);
  return [
    {
      ...axis,
      grid: { show: false },
      size: 46 * scale,
      gap: 8,
      lineGap: 1.35,
      space: TIME_SPACE * scale,
      values: (_chart, ticks, _axis, _space, step) => timeLabels(ticks, step, zone),
    },
    {
      ...axis,
      size: (_chart, labels) => Math.max(LEAST_AXIS_WIDTH * scale, widthOfLabels(labels, scale)),
      space: 44,
      // Without samples there is no value scale, so the grid lines have no labels.
      values: (chart, ticks) => (chart.data[0].length === 0 ? ticks.map(() => '') : formatTicks(ticks)),
    },
  ];
}

export const widthOfLabels = (labels: string[] | null, scale: number): number =>
  Math.max(0, ...(labels ?? []).map((label) => label.length * DIGIT_WIDTH * scale + 16));

const GUTTER_WIDTH = 72;

/** The common width of the value axes of charts below each other, so that their times align. It fits the widest label, and only grows. */
export function createGutter() {
  let width = GUTTER_WIDTH;
  const charts: Set<uPlot> = new Set();

  function redrawAll() {
    for (const chart of charts) chart.redraw(true, true);
  }

  return {
    add: (chart: uPlot) => void charts.add(chart),
    remove: (chart: uPlot) => void charts.delete(chart),
    sizeFor(chart: uPlot, labels: string[] | null): number {
      const needed = widthOfLabels(labels, textScale(colorsOf(chart.root)));
      if (needed > width) {
        width = needed;
        // uPlot cannot redraw a chart while it measures its axes.
        queueMicrotask(redrawAll);
      }
      return width;
    },
  };
}

export type Gutter = ReturnType<typeof createGutter>;

export const blank = (_chart: unknown, ticks: number[]) => ticks.map(() => '');

/** @returns a function for `tzDate` of uPlot, so that ticks stand at round times of the zone */
export const dateIn =
  ({ name }: Zone) =>
  (ts: number): Date =>
    name === 'local' ? new Date(ts) : uPlot.tzDate(new Date(ts), name === 'utc' ? 'Etc/UTC' : name);

export function colorsOf(host: HTMLElement): (name: string) => string {
  const style = getComputedStyle(host);
  return (name) => style.getPropertyValue(name);
}

/** Returns the value range with margins. A constant value lies in the middle of one unit, or of a five-hundredth of a large value. */
function comfortableRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const air = high > low ? (high - low) * 0.12 : Math.max(0.5, size / 1000);
  const least = size * 1e-13;
  return [low - Math.max(air, least), high + Math.max(air, least)];
}

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MONTH_MS = 28 * DAY_MS;

/** Returns the time of each tick and, in a second line where it changes, the day or year. */
export function timeLabels(ticks: number[], stepMs: number, zone: Zone): string[] {
  const { fine, coarse } = formatsFor(stepMs);
  let said = '';
  return ticks.map((ts) => {
    const context = coarse(ts, zone);
    if (context === said) return fine(ts, zone);
    said = context;
    return `${fine(ts, zone)}\n${context}`;
  });
}

type Writer = (ts: number, zone: Zone) => string;

function formatsFor(stepMs: number): { fine: Writer; coarse: Writer } {
  if (stepMs >= MONTH_MS) return { fine: formatMonth, coarse: formatYear };
  if (stepMs >= DAY_MS) return { fine: formatDay, coarse: formatYear };
  if (stepMs >= MINUTE_MS) return { fine: formatClock, coarse: formatDay };
  if (stepMs >= SECOND_MS) return { fine: formatTime, coarse: formatDay };
  return { fine: (ts, zone) => formatTimeMs(ts, zone).slice(3), coarse: formatDay };
}
