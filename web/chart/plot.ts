import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Zone } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { listenForGestures } from './gestures.ts';
import type { Drawn } from './shape.ts';
import { firstAtOrAfter } from './shape.ts';
import type { Bounds, Window } from './window.ts';
import { lengthOf, pan, zoomStep } from './window.ts';

type Shown = { picture: Drawn; window: Window };

/** @returns index in the shape; null: `entry` is null or a gap */
export function shapeIndexOf({ places }: Drawn, entry: number | null): number | null {
  const place = entry === null ? -1 : (places[entry] ?? -1);
  return place === -1 ? null : place;
}

/**
 * Finds the column entry at the cursor that keys moved. uPlot stores only the pixel of a cursor. If several entries share a
 * pixel, a cursor by pixel could not pass the first of these entries. In a live window, the pixel stays while the samples
 * move.
 *
 * @returns index of the nearest entry in the columns
 */
export function entryNear({ columns: [x] }: Drawn, ts: number): number {
  const right = firstAtOrAfter(x, ts);
  const left = Math.max(right - 1, 0);
  return right < x.length && Number(x[right]) - ts <= ts - Number(x[left]) ? right : left;
}

/** Returns the entry nearest to the cursor. In a gap, it must be within `reachMs`. null: no sample is there */
export function entryUnder({ columns: [x], places }: Drawn, ts: number, reachMs: number): number | null {
  const right = firstAtOrAfter(x, ts);
  const [before, after] = [right - 1, right];
  const isConnected = isMeasured(places, before) && isMeasured(places, after);
  const near = [before, before - 1, after, after + 1].filter((entry) => isMeasured(places, entry));
  const distance = (entry: number) => Math.abs(Number(x[entry]) - ts);
  const [nearest] = near.sort((a, b) => distance(a) - distance(b));
  if (nearest === undefined) return null;
  return isConnected || distance(nearest) <= reachMs ? nearest : null;
}

const isMeasured = (places: number[], entry: number) => places[entry] !== undefined && places[entry] !== -1;

function show(chart: uPlot, { picture, window: { from, to }, walked }: Shown & { walked: number | null }) {
  chart.batch(() => {
    if (chart.data !== picture.columns) chart.setData(picture.columns, false);
    chart.setScale('x', { min: from, max: to });
  });
  if (walked !== null) moveCursor(chart, walked);
}

/** @param ts time in epoch ms; null: the cursor leaves the chart */
function moveCursor(chart: uPlot, ts: number | null) {
  const left = ts === null ? -10 : chart.valToPos(ts, 'x');
  // The third parameter moves the cursors of linked charts. The types of uPlot lack this parameter.
  const setCursor: (at: { left: number; top: number }, fires: boolean, moves: boolean) => void =
    chart.setCursor.bind(chart);
  setCursor({ left, top: ts === null ? -10 : chart.over.clientHeight / 2 }, true, true);
}

/** Applies a key to the chart. @returns time in epoch ms to which the cursor must move */
export function press(
  event: KeyboardEvent,
  chart: uPlot,
  shown: Shown & {
    walked: number | null;
    bounds: Bounds;
    onReset: () => void;
    onWindow: (next: Window, isSettled: boolean) => void;
  },
): number | null {
  const { window, bounds, picture, walked } = shown;
  const cursor = walked === null ? (chart.cursor.idxs?.[1] ?? null) : entryNear(picture, walked);
  const asked = keyed(event, { window, bounds, drawn: picture, cursor });
  if (!asked) return null;
  event.preventDefault();
  if (asked.reset) shown.onReset();
  if (asked.window) shown.onWindow(asked.window, true);
  return asked.entry === undefined ? null : (picture.columns[0][asked.entry] ?? null);
}

const PAN_PART = 0.25;

interface KeyAction {
  window?: Window;
  entry?: number;
  reset?: true;
}
export function keyed(
  event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>,
  {
    window,
    bounds,
    drawn,
    cursor,
  }: {
    window: Window;
    bounds: Bounds;
    drawn: Drawn;
    /** index of the column entry under the cursor; null: the chart has no cursor */
    cursor: number | null;
  },
): KeyAction | null {
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

/** Moves the cursor from sample to sample, over gaps, within the window. @param by -1, 1, or infinite: to the first or last sample */
function walk(
  { columns: [x], places }: Drawn,
  { from, to }: Window,
  cursor: number | null,
  by: number,
): KeyAction {
  const there = [...places.keys()].filter(
    (at) => places[at] !== -1 && (x[at] ?? 0) >= from && (x[at] ?? 0) <= to,
  );
  const last = there.length - 1;
  if (last < 0) return {};
  const at = cursor === null ? -1 : there.indexOf(cursor);
  // Without a cursor, the newest sample comes first.
  const next = at < 0 && Number.isFinite(by) ? last : Math.min(Math.max(at + by, 0), last);
  return { entry: there[next] ?? 0 };
}

/** Creates a plot that fills an element. A change of theme, medium (screen or paper), time zone or inputs builds it again. */
export function usePlot(
  build: (element: HTMLElement, zone: Zone) => { plot: uPlot; stop?: () => void },
  inputs: unknown[],
): { host: { current: HTMLDivElement | null }; chart: { current: uPlot | null } } {
  const { preferences } = useServices();
  const { theme, zone } = preferences.choice.value;
  const host = useRef<HTMLDivElement | null>(null);
  const chart = useRef<uPlot | null>(null);

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let takeAway = () => {};
    const rebuild = () => {
      takeAway();
      const { plot, stop } = build(element, zone);
      chart.current = plot;
      takeAway = () => {
        stop?.();
        plot.destroy();
        chart.current = null;
      };
    };
    rebuild();
    const resizes = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    resizes.observe(element);
    // Paper always has the light colors.
    const media = ['(prefers-color-scheme: dark)', 'print'].map((query) => matchMedia(query));
    for (const query of media) query.addEventListener('change', rebuild);
    return () => {
      for (const query of media) query.removeEventListener('change', rebuild);
      resizes.disconnect();
      takeAway();
    };
  }, [theme, zone, ...inputs]);

  return { host, chart };
}

/** Creates a plot over time that mouse, touch and keys move and zoom. Screen readers announce each sample that the keys reach. */
export function useTimePlot({
  shown: given,
  options,
  inWords,
  inputs,
}: {
  shown: Shown & {
    bounds: Bounds;
    onReset: () => void;
    onWindow: (next: Window, isSettled: boolean) => void;
  };
  /** `cursorAt` returns the time in epoch ms to which keys moved the cursor; null: the mouse moves it, or there is none */
  options: (element: HTMLElement, zone: Zone, cursorAt: () => number | null) => uPlot.Options;
  inWords: (ts: number) => string | null;
  inputs: unknown[];
}) {
  const [announcement, setAnnouncement] = useState('');
  const walked = useRef<number | null>(null);
  const shown = useRef(given);
  shown.current = given;
  const { picture, window } = given;

  const { host, chart } = usePlot((element, zone) => {
    const plot = new uPlot(
      options(element, zone, () => walked.current),
      shown.current.picture.columns,
      element,
    );
    show(plot, { ...shown.current, walked: walked.current });
    const stop = listenForGestures(plot.over, {
      current: () => shown.current.window,
      bounds: () => shown.current.bounds,
      onWindow(next, isSettled) {
        // The next key event may arrive before the next drawing, so the window is stored here.
        shown.current = { ...shown.current, window: next };
        shown.current.onWindow(next, isSettled);
      },
      onSelect: (left, width) =>
        plot.setSelect({ left, width, top: 0, height: plot.over.clientHeight }, false),
    });
    return { plot, stop };
  }, inputs);

  useLayoutEffect(() => {
    // If the number of lines changes, the plot is created again, and receives its data then.
    if (chart.current?.series.length === picture.columns.length)
      show(chart.current, { picture, window, walked: walked.current });
  }, [picture, window.from, window.to]);

  function onKeyDown(event: KeyboardEvent) {
    if (!chart.current) return;
    const ts = press(event, chart.current, { ...shown.current, walked: walked.current });
    if (ts === null) return;
    walked.current = ts;
    moveCursor(chart.current, ts);
    const text = inWords(ts);
    if (text !== null) setAnnouncement(text);
  }
  function onPointerMove() {
    walked.current = null;
  }
  function onBlur() {
    walked.current = null;
    if (chart.current) moveCursor(chart.current, null);
    setAnnouncement('');
  }

  return {
    announcement,
    frame: {
      ref: host,
      tabIndex: 0,
      onKeyDown,
      onPointerMove,
      onDblClick: () => given.onReset(),
      onBlur,
    },
  };
}
