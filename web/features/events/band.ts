import type UPlot from 'uplot';
import type { Plugin } from 'uplot';
import type { DeviceEvent } from '../../api/types.ts';
import { hatch } from '../shared/hatch.ts';
import type { OnlineSpan, ReadTime, Unwatched } from './history.ts';

/** @param current returns the band to draw */
export const bandPlugin = (current: () => Band): Plugin => ({
  hooks: { draw: (chart) => paintBand(chart, current()) },
});

export interface Band {
  events: DeviceEvent[];
  spans: OnlineSpan[];
  births: number[];
  unwatched: Unwatched[];
  /** time in epoch ms before which the events are unknown */
  knownFrom: number | null;
  /** time range for which events and unwatched times were read */
  read: ReadTime;
  /** time in epoch ms at which spans that continue end in the picture */
  now: number;
  /** time in epoch ms from which the state is unknown, because no values arrive; null: the state is known up to now */
  staleSince: number | null;
}

/** Minimum width of a part of the band in CSS pixels, so that the part stays visible. */
const MIN_WIDTH = 2;

/** Distance of two slanted lines in CSS pixels. */
const HATCH_STEP = 5;

/**
 * Draws online times as a bar, and offline times as a thin line. Times with too many events are dotted. Times in which no
 * ingest process received samples, or no values arrived, are hatched. Times whose events are not read are empty. Births are
 * ticks.
 */
export function paintBand(
  chart: UPlot,
  { spans, births, unwatched, knownFrom, read, now, staleSince }: Band,
): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const middle = bbox.top + bbox.height / 2;
  const color = (name: string) => getComputedStyle(chart.root).getPropertyValue(name);
  const place = (ts: number) => chart.valToPos(ts, 'x', true);

  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
  ctx.clip();
  const knownTo = staleSince === null ? now : Math.min(now, staleSince);
  line(ctx, place(knownTo), middle, { from: bbox.left, color: color('--ink-2'), ratio });
  if (knownFrom !== null) {
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.clearRect(bbox.left, bbox.top, place(knownFrom) - bbox.left, bbox.height);
    line(ctx, place(knownFrom), middle, { from: bbox.left, color: color('--ink-2'), ratio });
  }
  ctx.fillStyle = color('--good');
  for (const { from, to } of spans) {
    const left = place(from);
    const width = Math.max(place(to ?? Math.max(from, knownTo)) - left, MIN_WIDTH * ratio);
    ctx.fillRect(left, bbox.top + bbox.height * 0.2, width, bbox.height * 0.6);
  }
  const end = bbox.left + bbox.width;
  const clear = (left: number, right: number) => {
    if (right > left) ctx.clearRect(left, bbox.top, right - left, bbox.height);
  };
  clear(bbox.left, Math.min(place(read.from), end));
  clear(Math.max(place(read.to), bbox.left), end);
  ctx.strokeStyle = color('--ink-3');
  const hatchUnknown = (left: number, right: number) =>
    hatch(ctx, {
      left,
      width: right - left,
      top: bbox.top,
      bottom: bbox.top + bbox.height,
      ratio,
      step: HATCH_STEP,
    });
  for (const { from, to } of unwatched) {
    const left = place(from);
    const right = Math.max(place(Math.min(to, knownTo)), left + MIN_WIDTH * ratio);
    if (from >= knownTo) continue;
    // The state during hatched times is unknown, so the bar is erased below the hatching.
    ctx.clearRect(left, bbox.top, right - left, bbox.height);
    hatchUnknown(left, right);
  }
  hatchUnknown(place(knownTo), place(now));
  ctx.fillStyle = color('--accent');
  for (const ts of births) ctx.fillRect(place(ts) - ratio, 0, 2 * ratio, bbox.top + bbox.height);
  ctx.restore();
}

function line(
  ctx: CanvasRenderingContext2D,
  to: number,
  y: number,
  { from, color, ratio }: { from: number; color: string; ratio: number },
) {
  ctx.strokeStyle = color;
  ctx.lineWidth = ratio;
  ctx.beginPath();
  ctx.moveTo(from, y);
  ctx.lineTo(to, y);
  ctx.stroke();
}
