/** Draws when a device was online: a bar, where it was not a thin line, where nobody knows a dotted one; births are ticks. */

/** @import UPlot from 'uplot' */
/** @import { DeviceEvent } from '../api/types.js' */
/** @import { Span } from '../state/device-events.js' */

/**
 * @typedef {object} Band
 * @property {DeviceEvent[]} events newest first
 * @property {Span[]} spans oldest first
 * @property {number[]} births epoch ms
 * @property {number | null} knownFrom epoch ms before which nothing is known
 * @property {number} now epoch ms at which what still goes on ends in the picture
 *
 * @typedef {(chart: UPlot, band: Band) => void} Painter
 */

/** Thinner is not seen, in CSS pixels. */
const LEAST_WIDTH = 2;

/** @type {Painter} */
export function paintBand(chart, { spans, births, knownFrom, now }) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const middle = bbox.top + bbox.height / 2;
  const colour = (/** @type {string} */ name) => getComputedStyle(chart.root).getPropertyValue(name);
  const place = (/** @type {number} */ ts) => chart.valToPos(ts, 'x', true);

  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
  ctx.clip();
  line(ctx, place(now), middle, { from: bbox.left, colour: colour('--ink-2'), ratio });
  if (knownFrom !== null) {
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.clearRect(bbox.left, bbox.top, place(knownFrom) - bbox.left, bbox.height);
    line(ctx, place(knownFrom), middle, { from: bbox.left, colour: colour('--ink-2'), ratio });
  }
  ctx.fillStyle = colour('--good');
  for (const { from, to } of spans) {
    const left = place(from);
    const width = Math.max(place(to ?? now) - left, LEAST_WIDTH * ratio);
    ctx.fillRect(left, bbox.top + bbox.height * 0.2, width, bbox.height * 0.6);
  }
  ctx.fillStyle = colour('--accent');
  for (const ts of births) ctx.fillRect(place(ts) - ratio, 0, 2 * ratio, bbox.top + bbox.height);
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} to
 * @param {number} y
 * @param {{ from: number, colour: string, ratio: number }} how
 */
function line(ctx, to, y, { from, colour, ratio }) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = ratio;
  ctx.beginPath();
  ctx.moveTo(from, y);
  ctx.lineTo(to, y);
  ctx.stroke();
}
