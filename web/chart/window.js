import { parseTime } from '../state/parse-time.js';
import { nextSpan, parseSpan, USUAL_SPAN_MS, writeSpan } from './spans.js';

/**
 * The stretch of time that a chart shows: half-open, epoch ms. A live one ends now and goes on; its length counts then.
 *
 * @typedef {{ live: boolean, from: number, to: number }} Window
 *
 * @typedef {object} Bounds
 * @property {number} earliest epoch ms, before which there is nothing to see
 * @property {number} now epoch ms
 */

/** Samples have whole milliseconds; less than this is a dot. */
export const NARROWEST_MS = 50;
/** One press of a key: a year is eight of them away from a minute, each still to be recognized from the one before. */
const ZOOM_STEP = 4;
/** Nearer to now than this part of its length, a window has come back to now. */
const NEAR_NOW = 0.002;

/** @param {Window} window @returns {number} ms */
export const lengthOf = ({ from, to }) => to - from;

/** @param {number} ms @param {number} now epoch ms @returns {Window} */
export const liveWindow = (ms, now) => ({ live: true, from: now - ms, to: now });

/**
 * The window of an address: `range` ends now, `from` and `to` are fixed; with `range` and `to`, so long before that time.
 *
 * @param {URLSearchParams} query
 * @param {number} now epoch ms
 * @returns {Window}
 */
export function readWindow(query, now) {
  const span = parseSpan(query.get('range')) ?? USUAL_SPAN_MS;
  const to = parseTime(query.get('to'));
  const from = parseTime(query.get('from'));
  if (to === null) return liveWindow(span, now);
  if (from === null || from >= to) return { live: false, from: to - span, to };
  return { live: false, from, to };
}

/** @param {Window} window @returns {Record<'range' | 'from' | 'to', string | null>} what its address says */
export function writeWindow(window) {
  if (window.live) return { range: writeSpan(lengthOf(window)), from: null, to: null };
  return { range: null, from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString() };
}

/**
 * Keeps a window between its bounds and to whole milliseconds. One that reaches now is live from then on.
 *
 * @param {{ from: number, to: number }} wanted
 * @param {Bounds} bounds
 * @returns {Window}
 */
export function settle({ from, to }, { earliest, now }) {
  const length = Math.min(
    Math.max(Math.round(to - from), NARROWEST_MS),
    Math.max(now - earliest, NARROWEST_MS),
  );
  const end = Math.min(Math.max(Math.round(to), earliest + length), now);
  if (now - end <= length * NEAR_NOW) return liveWindow(length, now);
  return { live: false, from: end - length, to: end };
}

/**
 * @param {Window} window
 * @param {number} factor of its length: below 1 zooms in
 * @param {number} anchor epoch ms that stays where it is
 * @param {Bounds} bounds
 */
export function zoom({ from, to }, factor, anchor, bounds) {
  const length = Math.max((to - from) * factor, NARROWEST_MS);
  const start = anchor - (length * (anchor - from)) / (to - from);
  return settle({ from: start, to: start + length }, bounds);
}

/**
 * One step of zoom, as a key or a button asks for it. What is live stays live, in the lengths that are offered.
 *
 * @param {Window} window
 * @param {-1 | 1} direction in, out
 * @param {number | null} anchor epoch ms; null: now, or the middle
 * @param {Bounds} bounds
 */
export function zoomStep(window, direction, anchor, bounds) {
  const { live, from, to } = window;
  if (live && anchor === null) return liveWindow(nextSpan(to - from, direction), bounds.now);
  return zoom(window, direction < 0 ? 1 / ZOOM_STEP : ZOOM_STEP, anchor ?? (from + to) / 2, bounds);
}

/**
 * @param {Window} window
 * @param {number} ms to the right, later; negative: earlier
 * @param {Bounds} bounds
 */
export const pan = ({ from, to }, ms, bounds) => settle({ from: from + ms, to: to + ms }, bounds);
