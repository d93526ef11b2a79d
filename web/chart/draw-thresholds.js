import { formatNumber } from '../format.js';

/** @import UPlot from 'uplot' */
/** @import { Thresholds } from '../state/preferences.js' */

/**
 * @typedef {object} Brush
 * @property {string} color
 * @property {string} ground behind the names
 * @property {string} font
 * @property {number} ratio device pixels to a CSS pixel
 */

/**
 * Draws the lines with their names, hatches the area over them, and marks at the chart's edge where the signal is over them.
 *
 * @param {UPlot} chart
 * @param {Thresholds} thresholds
 * @param {Brush} brush
 */
export function drawThresholds(chart, { low, high }, brush) {
  if (chart.data[0].length === 0) return;
  if (high !== null) drawOverThreshold(chart, { line: high, side: 'high', column: 2 }, brush);
  if (low !== null) drawOverThreshold(chart, { line: low, side: 'low', column: 3 }, brush);
}

/**
 * @param {UPlot} chart
 * @param {{ line: number, side: 'low' | 'high', column: number }} what
 * @param {Brush} brush
 */
function drawOverThreshold(chart, { line, side, column }, { color, ground, font, ratio }) {
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
  hatch(ctx, { left, width, top: Math.min(y, edge), bottom: Math.max(y, edge), ratio });
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
  write(ctx, `${side} ${formatNumber(line)}${away}`, {
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

/** @param {CanvasRenderingContext2D} ctx @param {{ left: number, width: number, top: number, bottom: number, ratio: number }} area */
function hatch(ctx, { left, width, top, bottom, ratio }) {
  if (bottom - top < 1) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, bottom - top);
  ctx.clip();
  ctx.globalAlpha = 0.16;
  ctx.lineWidth = ratio;
  const height = bottom - top;
  for (let x = left - height; x < left + width; x += 7 * ratio) stroke(ctx, [x, bottom], [x + height, top]);
  ctx.restore();
}

/**
 * A bar along the edge wherever the signal is over the threshold.
 *
 * @param {UPlot} chart
 * @param {{ line: number, side: 'low' | 'high', column: number, y: number, thickness: number }} what
 */
function markRuns(chart, { line, side, column, y, thickness }) {
  const values = /** @type {(number | null)[]} */ (chart.data[column] ?? []);
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
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {{ x: number, y: number, side: 'low' | 'high', font: string, ground: string, ratio: number, room: number }} where beyond the line, if there is room
 */
function write(ctx, text, { x, y, side, font, ground, ratio, room }) {
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

/** @param {CanvasRenderingContext2D} ctx @param {[number, number]} from @param {[number, number]} to */
function stroke(ctx, from, to) {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}
