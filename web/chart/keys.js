import { lengthOf, pan, zoomStep } from './window.js';

/** @import { Drawn } from './columns.js' */
/** @import { Bounds, Window } from './window.js' */

/** So much of the window an arrow key with Shift moves it. */
const PAN_PART = 0.25;

/**
 * @typedef {object} Keyed what a key asks for
 * @property {Window} [window]
 * @property {number} [entry] of the columns, to which the cursor goes
 * @property {true} [reset]
 *
 * @param {Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>} event
 * @param {object} at
 * @param {Window} at.window
 * @param {Bounds} at.bounds
 * @param {Drawn} at.drawn
 * @param {number | null} at.cursor entry of the columns
 * @returns {Keyed | null} null: not a key of the chart's
 */
export function keyed(event, { window, bounds, drawn, cursor }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { key, shiftKey } = event;
  const anchor = cursor === null ? null : (drawn.columns[0][cursor] ?? null);
  if (key === '+' || key === '=') return { window: zoomStep(window, -1, anchor, bounds) };
  if (key === '-' || key === '_') return { window: zoomStep(window, 1, anchor, bounds) };
  if (key === '0' || key === 'Escape') return { reset: true };
  if (shiftKey && key === 'ArrowLeft') return { window: pan(window, -PAN_PART * lengthOf(window), bounds) };
  if (shiftKey && key === 'ArrowRight') return { window: pan(window, PAN_PART * lengthOf(window), bounds) };
  const entry = {
    ArrowLeft: -1,
    ArrowRight: 1,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  }[key];
  return entry === undefined ? null : walk(drawn, window, cursor, entry);
}

/**
 * From sample to sample, over gaps, within the window.
 *
 * @param {Drawn} drawn
 * @param {Window} window
 * @param {number | null} cursor
 * @param {number} by -1, 1 or to an end
 * @returns {Keyed}
 */
function walk({ columns: [x], places }, { from, to }, cursor, by) {
  const there = [...places.keys()].filter(
    (at) => places[at] !== -1 && (x[at] ?? 0) >= from && (x[at] ?? 0) <= to,
  );
  const last = there.length - 1;
  if (last < 0) return {};
  const at = cursor === null ? -1 : there.indexOf(cursor);
  // Without a cursor, one begins with the newest.
  const next = at < 0 && Number.isFinite(by) ? last : Math.min(Math.max(at + by, 0), last);
  return { entry: there[next] ?? 0 };
}
