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
import type { Thresholds } from '../state/thresholds.ts';
import { withThresholds } from '../state/thresholds.ts';
import { drawThresholds } from './marks.ts';
import { loneEntries } from './shape.ts';

/** Samples that are this far apart, in pixels, get a dot each: one sees what was measured, and what is only a line. */
const DOT_SPACE = 10;
/** Diameter of a dot, in pixels. */
const DOT_SIZE = 4;
/** A piece of line that is narrower than this gets dots, in pixels. */
const LEAST_RUN = 3;
/** Width of the bar from the lowest to the highest value of a bin without neighbors, in pixels. */
const BAR_WIDTH = 2;
/** Size of the text in a chart on a usual screen, in CSS pixels. */
const TEXT_SIZE = 12;
/** Room for the figures of the values: linked charts stay flush as long as theirs are of usual length. */
const LEAST_AXIS_WIDTH = 60;
const DIGIT_WIDTH = 7;
/** Half of the widest time: the last one is not cut at the edge of the chart. */
const TIME_HALF = 32;
/** Minimum distance between two time labels, in pixels; a label is about 60 wide. */
export const TIME_SPACE = 84;

/** @returns how many times larger text is than on a usual screen: on a very wide one, all text is larger */
export const textScale = (color: (name: string) => string): number =>
  Number.parseFloat(color('--text-scale')) || 1;

/** @returns the font of the text in charts; uPlot reads whole pixels only */
export const chartFont = (color: (name: string) => string, ratio = 1): string =>
  `${Math.round(TEXT_SIZE * textScale(color) * ratio)}px system-ui, sans-serif`;

/** Largest distance at which the cursor reads a point, in CSS pixels. */
export const REACH = 10;

/** The data that the chart shows now. */
interface ChartStyle {
  /** samples, not bins */
  isRaw: boolean;
  thresholds: Thresholds;
}

/** How a sensor's signal is drawn. */
export function chartOptions({
  host,
  zone,
  cursorKey,
  look,
  entryUnder,
  onCursor,
  onPlot,
}: {
  /** the element whose custom properties give the colors */
  host: HTMLElement;
  zone: Zone;
  /** charts with the same one move their cursors together */
  cursorKey: string | undefined;
  look: () => ChartStyle;
  /** the column entry that the cursor means */
  entryUnder: (ts: number, reachMs: number) => number | null;
  /** the column entry under the cursor, and its time; null: it is away */
  onCursor: (index: number | null, ts: number | null) => void;
  /** where the plot is */
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
      y: { range: (_chart, min, max) => comfortableRange(min, max, look().thresholds) },
    },
    series: [
      {},
      {
        stroke: color('--line'),
        fill: () => (look().isRaw ? color('--line-area') : 'transparent'),
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
      draw: [
        (chart) => onPlot(edgesOf(chart)),
        (chart) =>
          drawThresholds(chart, look().thresholds, {
            color: color('--warn'),
            ground: color('--surface'),
            font: chartFont(color, uPlot.pxRatio),
            ratio: uPlot.pxRatio,
          }),
      ],
    },
  };
}

/** The dots of a line that has none but for samples between two gaps, which would be invisible. */
export const lonePoints = (fill: string): uPlot.Series.Points => ({
  show: false,
  size: DOT_SIZE,
  width: 0,
  fill,
  filter: loneEntriesOf,
});

/** @returns entries in sight that the line of a series does not show */
function loneEntriesOf(chart: uPlot, series: number): number[] {
  const [x = [], values = []] = [chart.data[0], chart.data[series]];
  const { left, width } = chart.bbox;
  const xOf = (entry: number) =>
    Math.min(Math.max(chart.valToPos(Number(x[entry]), 'x', true), left), left + width);
  const [first = 0, last = -1] = chart.series[0]?.idxs ?? [];
  return loneEntries(values, [first, last], xOf, LEAST_RUN * uPlot.pxRatio);
}

/** The dots of averages. A bin that no band shows has a bar from its lowest to its highest value. */
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

/** The space of a chart on both sides of its plot, in CSS pixels. */
export type Edges = { left: number; right: number };

function edgesOf({ bbox, width }: uPlot): Edges {
  const left = bbox.left / uPlot.pxRatio;
  return { left, right: Math.max(width - left - bbox.width / uPlot.pxRatio, 0) };
}

/** @returns epoch ms under the cursor; null: it is away */
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
    // gestures.ts listens to these.
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

/** @returns ms that `REACH` spans */
const reachOf = (chart: uPlot): number => chart.posToVal(REACH, 'x') - chart.posToVal(0, 'x');

/** What the axes of all charts have in common. */
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
      // Without samples there is no scale: lines, but no figures on them.
      values: (chart, ticks) => (chart.data[0].length === 0 ? ticks.map(() => '') : formatTicks(ticks)),
    },
  ];
}

/**
 * @param labels of values
 * @param scale of text
 * @returns CSS pixels that an axis needs for them
 */
export const widthOfLabels = (labels: string[] | null, scale: number): number =>
  Math.max(0, ...(labels ?? []).map((label) => label.length * DIGIT_WIDTH * scale + 16));

/** Room for figures of usual length, in CSS pixels. */
const GUTTER_WIDTH = 72;

/**
 * The room at the left of charts that stand under each other: as much as the widest of their figures needs, so that one time is in one
 * line. It only grows.
 */
export function createGutter() {
  let width = GUTTER_WIDTH;
  const charts: Set<uPlot> = new Set();

  function redrawAll() {
    for (const chart of charts) chart.redraw(true, true);
  }

  return {
    /** @param chart follows the width of the gutter */
    add: (chart: uPlot) => void charts.add(chart),
    remove: (chart: uPlot) => void charts.delete(chart),
    /**
     * @param labels of its values
     * @returns CSS pixels
     */
    sizeFor(chart: uPlot, labels: string[] | null): number {
      const needed = widthOfLabels(labels, textScale(colorsOf(chart.root)));
      if (needed > width) {
        width = needed;
        // A chart that is being measured cannot be redrawn.
        queueMicrotask(redrawAll);
      }
      return width;
    },
  };
}

export type Gutter = ReturnType<typeof createGutter>;

/** An axis with a grid line at each value, and no label. */
export const blank = (_chart: unknown, ticks: number[]) => ticks.map(() => '');

/**
 * The room for figures of charts under each other, so that one time is in one line. An axis that only other charts have stays empty.
 *
 * @param gutters of the axes of values, the left one first
 */
export const gutterPlugin = (gutters: Gutter[]): uPlot.Plugin => ({
  opts(_chart, options) {
    const [times = {}, ...values] = options.axes ?? [];
    const none = { ...values[0], side: 1 as const, grid: { show: false }, values: blank };
    const axes = gutters.map(({ sizeFor }, index) => ({ ...(values[index] ?? none), size: sizeFor }));
    return { ...options, axes: [times, ...axes] };
  },
  hooks: {
    init(chart) {
      for (const gutter of gutters) gutter.add(chart);
    },
    destroy(chart) {
      for (const gutter of gutters) gutter.remove(chart);
    },
  },
});

/** @returns what uPlot takes as `tzDate`: ticks of a clock stand at round times of its own zone */
export const dateIn =
  ({ name }: Zone) =>
  (ts: number): Date =>
    name === 'local' ? new Date(ts) : uPlot.tzDate(new Date(ts), name === 'utc' ? 'Etc/UTC' : name);

/** @returns a custom property as a color that a canvas takes */
export function colorsOf(host: HTMLElement): (name: string) => string {
  const style = getComputedStyle(host);
  return (name) => style.getPropertyValue(name);
}

/** Some air above and below; a flat line lies in the middle of one unit, or of the smallest step that its size can resolve. */
function comfortableRange(min: number | null, max: number | null, thresholds: Thresholds): [number, number] {
  if (min === null || max === null) return [0, 1];
  const [low, high] = withThresholds(min, max, thresholds);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const air = high > low ? (high - low) * 0.12 : Math.max(0.5, size / 1000);
  const least = size * 1e-13;
  return [low - Math.max(air, least), high + Math.max(air, least)];
}

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MONTH_MS = 28 * DAY_MS;

/**
 * The labels of a time axis: the time of each tick and, in a second line where it changes, the day or year.
 *
 * @param ticks epoch ms
 * @param stepMs between two of them
 */
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
