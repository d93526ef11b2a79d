import uPlot from 'uplot';
import { chartFont, colorsOf } from '../../chart/options.ts';
import { formatNumber } from '../../format.ts';
import { hatch, stroke } from '../shared/hatch.ts';
import type { Thresholds } from './state.ts';
import { NO_THRESHOLDS, withThresholds } from './state.ts';

interface Brush {
  color: string;
  /** background color behind the names */
  ground: string;
  font: string;
  /** device pixels per CSS pixel */
  ratio: number;
}

/** Limit for thresholds near 0, as a share of the value range. A threshold below it is 0 with a rounding error of the unit conversion. */
const ROUNDING_SHARE = 1e-9;

/** @returns the value of a threshold as text */
function lineText(line: number, { min, max }: uPlot.Scale): string {
  const isZero = Math.abs(line) < ROUNDING_SHARE * (Number(max) - Number(min));
  return formatNumber(isZero ? 0 : line);
}

/** Creates a plugin that draws the thresholds of a chart, and extends its value scale to those that are near. */
export function createThresholdMarks() {
  let chart: uPlot | null = null;
  let lines = NO_THRESHOLDS;

  const plugin: uPlot.Plugin = {
    opts(_chart, options) {
      const { y } = options.scales ?? {};
      const { range } = y ?? {};
      if (typeof range !== 'function') return options;
      const extended: uPlot.Range.Function = (plot, min, max, key) =>
        min === null || max === null
          ? range(plot, min, max, key)
          : range(plot, ...withThresholds(min, max, lines), key);
      return { ...options, scales: { ...options.scales, y: { ...y, range: extended } } };
    },
    hooks: {
      init(plot) {
        chart = plot;
      },
      draw(plot) {
        const color = colorsOf(plot.root);
        const font = chartFont(color, uPlot.pxRatio);
        drawThresholds(plot, lines, {
          color: color('--warn'),
          ground: color('--surface'),
          font,
          ratio: uPlot.pxRatio,
        });
      },
      destroy() {
        chart = null;
      },
    },
  };

  return {
    /** The array stays the same, because another array would rebuild the chart. */
    plugins: [plugin],
    set(next: Thresholds) {
      lines = next;
      const { min, max } = chart?.scales['x'] ?? {};
      if (typeof min !== 'number' || typeof max !== 'number') return;
      // uPlot computes the value scale after the time scale.
      chart?.setScale('x', { min, max });
      chart?.redraw(false, true);
    },
  };
}

/** Draws thresholds with their names, hatches the area over the thresholds, and marks the times when the signal is over a threshold. */
function drawThresholds(chart: uPlot, { low, high }: Thresholds, brush: Brush) {
  if (chart.data[0].length === 0) return;
  if (high !== null) drawOverThreshold(chart, { line: high, side: 'high', column: 2 }, brush);
  if (low !== null) drawOverThreshold(chart, { line: low, side: 'low', column: 3 }, brush);
}

function drawOverThreshold(
  chart: uPlot,
  { line, side, column }: { line: number; side: 'low' | 'high'; column: number },
  { color, ground, font, ratio }: Brush,
) {
  const { ctx, bbox } = chart;
  const { left, top, width, height } = bbox;
  const bottom = top + height;
  const wanted = chart.valToPos(line, 'y', true);
  const y = Math.min(Math.max(wanted, top), bottom);
  const away = wanted < y ? ' ↑' : wanted > y ? ' ↓' : '';
  const edge = side === 'high' ? top : bottom;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.globalAlpha = 0.16;
  hatch(ctx, { left, width, top: Math.min(y, edge), bottom: Math.max(y, edge), ratio, step: 7 });
  ctx.globalAlpha = 1;
  ctx.lineWidth = ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  stroke(ctx, [left, y], [left + width, y]);
  markRuns(chart, {
    line,
    side,
    column,
    y: side === 'high' ? top : bottom - 3 * ratio,
    thickness: 3 * ratio,
  });
  write(ctx, `${side} ${lineText(line, chart.scales['y'] ?? {})}${away}`, {
    x: left + width - 6 * ratio,
    y,
    side,
    font,
    ground,
    ratio,
    room: Math.abs(y - edge),
  });
  ctx.restore();
}

/** Draws a bar along the edge of the chart wherever the signal is over the threshold. */
function markRuns(
  chart: uPlot,
  {
    line,
    side,
    column,
    y,
    thickness,
  }: { line: number; side: 'low' | 'high'; column: number; y: number; thickness: number },
) {
  const values = (chart.data[column] ?? []) as (number | null)[];
  const times = chart.data[0];
  for (const [at, value] of values.entries()) {
    if (value === null || (side === 'high' ? value <= line : value >= line)) continue;
    const [ts = 0, before, after] = [times[at], times[at - 1], times[at + 1]];
    const left = chart.valToPos(before === undefined ? ts : (before + ts) / 2, 'x', true);
    const right = chart.valToPos(after === undefined ? ts : (after + ts) / 2, 'x', true);
    chart.ctx.fillRect(left, y, Math.max(right - left, thickness), thickness);
  }
}

/**
 * Writes the name of a threshold: beyond the threshold if there is space, otherwise before the threshold.
 *
 * @param where position of the text
 */
function write(
  ctx: CanvasRenderingContext2D,
  text: string,
  {
    x,
    y,
    side,
    font,
    ground,
    ratio,
    room,
  }: {
    x: number;
    y: number;
    side: 'low' | 'high';
    font: string;
    ground: string;
    ratio: number;
    room: number;
  },
) {
  const outside = room > 20 * ratio;
  const above = (side === 'high') === outside;
  ctx.font = font;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const middle = y + (above ? -10 : 10) * ratio;
  const width = ctx.measureText(text).width + 8 * ratio;
  const { fillStyle } = ctx;
  ctx.fillStyle = ground;
  ctx.fillRect(x - width, middle - 8 * ratio, width, 16 * ratio);
  ctx.fillStyle = fillStyle;
  ctx.fillText(text, x - 4 * ratio, middle);
}
