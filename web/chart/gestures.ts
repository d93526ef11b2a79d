import type { Range } from './shape.ts';
import type { Bounds, Window } from './window.ts';
import { lengthOf, pan, settle, zoom } from './window.ts';

/** Minimum movement of a pointer in pixels that counts as a drag. A shorter movement is a click. */
const LEAST_DRAG = 5;
/** Pause in ms after the last wheel event. After it, the window counts as chosen. */
const WHEEL_PAUSE_MS = 300;
const WHEEL_FACTOR = 0.0025;
/** Height of a line in pixels, for mouse wheels that report lines. */
const LINE_PX = 16;

interface GestureHandlers {
  current: () => Window;
  bounds: () => Bounds;
  onWindow: (next: Window, isSettled: boolean) => void;
  /** receives the range that the user selects, in pixels; width 0: no range is selected */
  onSelect: (left: number, width: number) => void;
}

/**
 * Adds zooming and panning by mouse, touch and wheel. Dragging selects a range. Dragging with Shift or the middle button pans.
 * The time under each finger stays under that finger. The wheel zooms only with Ctrl or Cmd, because the page must scroll.
 *
 * @returns a function that removes the listeners
 */
export function listenForGestures(plot: HTMLElement, hands: GestureHandlers): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  const { current, bounds, onWindow, onSelect } = hands;
  /** The position of each pointer, and the time that must stay under the pointer. */
  const held: Map<number, { x: number; ts: number }> = new Map();
  let mode: 'select' | 'hold' | null = null;
  let hasMoved = false;
  let begun: Window = current();

  const xOf = (event: { clientX: number }) => event.clientX - plot.getBoundingClientRect().left;
  const timeAt = (x: number, window: Window) => window.from + (x / plot.clientWidth) * lengthOf(window);

  function down(event: PointerEvent) {
    const isMouse = event.pointerType === 'mouse';
    if (isMouse && event.button > 1) return;
    if (isMouse && event.button === 1) event.preventDefault();
    plot.setPointerCapture(event.pointerId);
    mode = isMouse && event.button === 0 && !event.shiftKey ? 'select' : 'hold';
    if (held.size === 0) hasMoved = false;
    held.set(event.pointerId, { x: xOf(event), ts: 0 });
    grip();
  }

  function grip() {
    begun = current();
    for (const pointer of held.values()) pointer.ts = timeAt(pointer.x, begun);
  }

  function move(event: PointerEvent) {
    const pointer = held.get(event.pointerId);
    if (!pointer) return;
    const x = Math.min(Math.max(xOf(event), 0), plot.clientWidth);
    const start = (pointer.ts - begun.from) * (plot.clientWidth / lengthOf(begun));
    hasMoved ||= Math.abs(x - start) >= LEAST_DRAG || held.size > 1;
    pointer.x = x;
    if (!hasMoved) return;
    if (mode === 'select') onSelect(Math.min(x, start), Math.abs(x - start));
    else
      onWindow(
        settle(windowUnderPointers([...held.values()], plot.clientWidth, lengthOf(begun)), bounds()),
        false,
      );
  }

  function up(event: PointerEvent) {
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

  let wheelTimer: ReturnType<typeof setTimeout> | undefined;
  function turn(event: WheelEvent) {
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

const ordered = (a: number, b: number): Range => ({ from: Math.min(a, b), to: Math.max(a, b) });

/** Returns the window in which the time of each pointer stays under that pointer. Two pointers also scale the window. */
export function windowUnderPointers(held: { x: number; ts: number }[], width: number, length: number): Range {
  const [first = { x: 0, ts: 0 }, second] = held;
  const apart = second ? (second.ts - first.ts) / (second.x - first.x) : 0;
  // With crossed fingers, the computed scale would reverse the direction of time.
  const msPerPixel = apart > 0 && Number.isFinite(apart) ? apart : length / width;
  const from = first.ts - first.x * msPerPixel;
  return { from, to: from + width * msPerPixel };
}

/** @returns null: the event scrolls the page */
function afterWheel(
  {
    deltaX,
    deltaY,
    deltaMode,
    ctrlKey,
    metaKey,
    shiftKey,
  }: Pick<WheelEvent, 'deltaX' | 'deltaY' | 'deltaMode' | 'ctrlKey' | 'metaKey' | 'shiftKey'>,
  { window, x, width }: { window: Window; x: number; width: number },
  bounds: Bounds,
): Window | null {
  const unit = deltaMode === 1 ? LINE_PX : 1;
  const length = lengthOf(window);
  if (ctrlKey || metaKey) {
    return zoom(window, Math.exp(deltaY * unit * WHEEL_FACTOR), window.from + (x / width) * length, bounds);
  }
  const across = shiftKey ? deltaX + deltaY : deltaX;
  if (Math.abs(across) <= Math.abs(shiftKey ? 0 : deltaY)) return null;
  return pan(window, ((across * unit) / width) * length, bounds);
}
