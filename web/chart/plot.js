import { keyed } from './keys.js';
import { firstAtOrAfter } from './shape.js';

/** @import UPlot from 'uplot' */
/** @import { Drawn } from './columns.js' */
/** @import { Bounds, Window } from './window.js' */

/**
 * What is asked of the library that draws.
 *
 * @typedef {{ picture: Drawn, window: Window }} Shown
 */

/** @param {Drawn} picture @param {number | null} entry of the columns @returns {number | null} index in the shape; null: a gap, or nothing */
export function placeOf({ places }, entry) {
  const place = entry === null ? -1 : (places[entry] ?? -1);
  return place === -1 ? null : place;
}

/**
 * Where a key has brought the cursor. uPlot knows the cursor by its pixel: where entries lie closer together, it would not come past
 * the first of them, and in a live window the pixel stays while the samples move on.
 *
 * @param {Drawn} picture
 * @param {number} ts epoch ms
 * @returns {number} the entry of the columns that is nearest
 */
export function entryNear({ columns: [x] }, ts) {
  const right = firstAtOrAfter(x, ts);
  const left = Math.max(right - 1, 0);
  return right < x.length && Number(x[right]) - ts <= ts - Number(x[left]) ? right : left;
}

/** @param {UPlot} chart @param {Shown & { walked: number | null }} what `walked`: epoch ms to which keys have brought the cursor */
export function show(chart, { picture, window: { from, to }, walked }) {
  chart.batch(() => {
    if (chart.data !== picture.columns) chart.setData(picture.columns, false);
    chart.setScale('x', { min: from, max: to });
  });
  if (walked !== null) moveCursor(chart, walked);
}

/** @param {UPlot} chart @param {number | null} ts epoch ms; null: away from it */
export function moveCursor(chart, ts) {
  const left = ts === null ? -10 : chart.valToPos(ts, 'x');
  // Its third parameter, which its types do not know, tells the linked charts.
  /** @type {any} */ (chart).setCursor(
    { left, top: ts === null ? -10 : chart.over.clientHeight / 2 },
    true,
    true,
  );
}

/**
 * Does what a key asks for.
 *
 * @param {KeyboardEvent} event
 * @param {UPlot} chart
 * @returns {number | null} epoch ms to which the cursor is to go
 * @param {Shown & { walked: number | null, bounds: Bounds, onReset: () => void, onWindow: (next: Window, isSettled: boolean) => void }} shown
 */
export function press(event, chart, shown) {
  const { window, bounds, picture, walked } = shown;
  const cursor = walked === null ? (chart.cursor.idxs?.[1] ?? null) : entryNear(picture, walked);
  const asked = keyed(event, { window, bounds, drawn: picture, cursor });
  if (!asked) return null;
  event.preventDefault();
  if (asked.reset) shown.onReset();
  if (asked.window) shown.onWindow(asked.window, true);
  return asked.entry === undefined ? null : (picture.columns[0][asked.entry] ?? null);
}
