import { lengthOf, pan, settle, zoom } from './window.js';

/** @import { Range } from './shape.js' */
/** @import { Bounds, Window } from './window.js' */

/** A pointer that moved less, in pixels, has only been set down. */
const LEAST_DRAG = 5;
/** After the last turn of a wheel, the window counts as chosen. */
const WHEEL_PAUSE_MS = 300;
const WHEEL_FACTOR = 0.0025;
/** Some wheels count lines. */
const LINE_PX = 16;

/**
 * @typedef {object} Hands what the gestures move
 * @property {() => Window} current
 * @property {() => Bounds} bounds
 * @property {(next: Window, isSettled: boolean) => void} onWindow
 * @property {(left: number, width: number) => void} onSelect the stretch being drawn up, in pixels; of no width: none
 */

/**
 * Zooming and panning by mouse, touch and wheel: dragging selects a stretch, with Shift (or the middle button) it pans; fingers
 * hold what is under them; the wheel zooms with Ctrl or Cmd alone, since the page has to scroll.
 *
 * @param {HTMLElement} plot
 * @param {Hands} hands
 * @returns {() => void} ends it
 */
export function listenForGestures(plot, hands) {
  const listening = new AbortController();
  const { signal } = listening;
  const { current, bounds, onWindow, onSelect } = hands;
  /** The position of each pointer, and the time that it holds. @type {Map<number, { x: number, ts: number }>} */
  const held = new Map();
  /** @type {'select' | 'hold' | null} */
  let mode = null;
  let hasMoved = false;
  /** @type {Window} */
  let begun = current();

  /** @param {{ clientX: number }} event */
  const xOf = (event) => event.clientX - plot.getBoundingClientRect().left;
  /** @param {number} x @param {Window} window */
  const timeAt = (x, window) => window.from + (x / plot.clientWidth) * lengthOf(window);

  /** @param {PointerEvent} event */
  function down(event) {
    const isMouse = event.pointerType === 'mouse';
    if (isMouse && event.button > 1) return;
    if (isMouse && event.button === 1) event.preventDefault();
    plot.setPointerCapture(event.pointerId);
    mode = isMouse && event.button === 0 && !event.shiftKey ? 'select' : 'hold';
    if (held.size === 0) hasMoved = false;
    held.set(event.pointerId, { x: xOf(event), ts: 0 });
    grip();
  }

  /** Each pointer takes hold of the time that is under it now. */
  function grip() {
    begun = current();
    for (const pointer of held.values()) pointer.ts = timeAt(pointer.x, begun);
  }

  /** @param {PointerEvent} event */
  function move(event) {
    const pointer = held.get(event.pointerId);
    if (!pointer) return;
    const x = Math.min(Math.max(xOf(event), 0), plot.clientWidth);
    const start = (pointer.ts - begun.from) * (plot.clientWidth / lengthOf(begun));
    hasMoved ||= Math.abs(x - start) >= LEAST_DRAG || held.size > 1;
    pointer.x = x;
    if (!hasMoved) return;
    if (mode === 'select') onSelect(Math.min(x, start), Math.abs(x - start));
    else onWindow(settle(placed([...held.values()], plot.clientWidth, lengthOf(begun)), bounds()), false);
  }

  /** @param {PointerEvent} event */
  function up(event) {
    const pointer = held.get(event.pointerId);
    if (!pointer) return;
    held.delete(event.pointerId);
    if (mode === 'select') {
      onSelect(0, 0);
      const end = timeAt(pointer.x, begun);
      const isChosen = hasMoved && event.type === 'pointerup';
      if (isChosen) onWindow(settle(ordered(pointer.ts, end), bounds()), true);
    } else if (held.size > 0) grip();
    else if (hasMoved) onWindow(current(), true);
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let wheelTimer;
  /** @param {WheelEvent} event */
  function turn(event) {
    const next = afterWheel(event, { window: current(), x: xOf(event), width: plot.clientWidth }, bounds());
    if (!next) return;
    event.preventDefault();
    onWindow(next, false);
    clearTimeout(wheelTimer);
    wheelTimer = setTimeout(() => onWindow(current(), true), WHEEL_PAUSE_MS);
  }

  plot.addEventListener('pointerdown', down, { signal });
  plot.addEventListener('pointermove', move, { signal });
  plot.addEventListener('pointerup', up, { signal });
  plot.addEventListener('pointercancel', up, { signal });
  plot.addEventListener('wheel', turn, { signal, passive: false });
  return () => {
    clearTimeout(wheelTimer);
    listening.abort();
  };
}

/** @param {number} a @param {number} b @returns {Range} */
const ordered = (a, b) => ({ from: Math.min(a, b), to: Math.max(a, b) });

/**
 * The window in which what was taken hold of is where the pointers are now: of one pointer moved, of two or more also scaled.
 *
 * @param {{ x: number, ts: number }[]} held pixels and epoch ms
 * @param {number} width of the plot, in pixels
 * @param {number} length of the window with one pointer, in ms
 * @returns {Range}
 */
export function placed(held, width, length) {
  const [first = { x: 0, ts: 0 }, second] = held;
  const apart = second ? (second.ts - first.ts) / (second.x - first.x) : 0;
  // Fingers that cross would turn time round.
  const msPerPixel = apart > 0 && Number.isFinite(apart) ? apart : length / width;
  const from = first.ts - first.x * msPerPixel;
  return { from, to: from + width * msPerPixel };
}

/**
 * @param {Pick<WheelEvent, 'deltaX' | 'deltaY' | 'deltaMode' | 'ctrlKey' | 'metaKey' | 'shiftKey'>} event
 * @param {{ window: Window, x: number, width: number }} at `x`, `width` in pixels
 * @param {Bounds} bounds
 * @returns {Window | null} null: the page's own
 */
function afterWheel({ deltaX, deltaY, deltaMode, ctrlKey, metaKey, shiftKey }, { window, x, width }, bounds) {
  const unit = deltaMode === 1 ? LINE_PX : 1;
  const length = lengthOf(window);
  if (ctrlKey || metaKey) {
    return zoom(window, Math.exp(deltaY * unit * WHEEL_FACTOR), window.from + (x / width) * length, bounds);
  }
  const across = shiftKey ? deltaX + deltaY : deltaX;
  if (Math.abs(across) <= Math.abs(shiftKey ? 0 : deltaY)) return null;
  return pan(window, ((across * unit) / width) * length, bounds);
}
