import { keyed } from './keys.js';

/**
 * What is asked of the library that draws.
 *
 * @typedef {import('./columns.js').Drawn} Drawn
 * @typedef {import('./window.js').Window} Window
 * @typedef {{ picture: Drawn, window: Window }} Shown
 */

/** @param {Drawn} picture @param {number | null} entry of the columns @returns {number | null} index in the shape; null: a gap, or nothing */
export function placeOf({ places }, entry) {
  const place = entry === null ? -1 : (places[entry] ?? -1);
  return place === -1 ? null : place;
}

/** @param {import('uplot')} chart @param {Shown} what */
export function show(chart, { picture, window: { from, to } }) {
  chart.batch(() => {
    if (chart.data !== picture.columns) chart.setData(picture.columns, false);
    chart.setScale('x', { min: from, max: to });
  });
}

/** @param {import('uplot')} chart @param {number | null} ts epoch ms; null: away from it */
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
 * @param {import('uplot')} chart
 * @returns {number | null} the entry of the columns to which it brought the cursor
 * @param {Shown & { bounds: import('./window.js').Bounds, onReset: () => void, onWindow: (next: Window, isSettled: boolean) => void }} shown
 */
export function press(event, chart, shown) {
  const { window, bounds, picture } = shown;
  const cursor = chart.cursor.idxs?.[1] ?? null;
  const asked = keyed(event, { window, bounds, drawn: picture, cursor });
  if (!asked) return null;
  event.preventDefault();
  if (asked.reset) shown.onReset();
  if (asked.window) shown.onWindow(asked.window, true);
  if (asked.entry === undefined) return null;
  moveCursor(chart, picture.columns[0][asked.entry] ?? null);
  return asked.entry;
}
