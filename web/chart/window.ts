import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseTime } from '../routes.ts';
import { useServices } from '../state/hooks.ts';

/** The window of a chart: a half-open range in epoch ms. A live window ends now and moves with time. */
export type Window = { live: boolean; from: number; to: number };

export interface Bounds {
  /** start of the time that users can select, in epoch ms */
  earliest: number;
  now: number;
}

/** Length of the shortest window in ms. Samples have whole milliseconds. */
export const NARROWEST_MS = 50;
/** Zoom factor of one key press. Eight presses lead from a year to a minute, and each view still resembles the previous view. */
const ZOOM_STEP = 4;
/** A window whose end is nearer to now than this share of its length becomes live. */
const NEAR_NOW = 0.002;

export const lengthOf = ({ from, to }: Window): number => to - from;

export const liveWindow = (ms: number, now: number): Window => ({ live: true, from: now - ms, to: now });

/**
 * Reads the window from the query of an address. `range` alone gives a live window. `range` with `to`, or `from` with `to`,
 * gives a fixed window. Relative times such as `-1h` count from the time when the address was opened. A relative `from` alone,
 * or with `to=now`, gives a live window.
 *
 * @param openedAt time in epoch ms when the address was opened
 */
export function readWindow(query: URLSearchParams, now: number, openedAt: number = now): Window {
  const span = parseSpan(query.get('range')) ?? DEFAULT_SPAN_MS;
  const ago = { from: parseAgo(query.get('from')), to: parseAgo(query.get('to')) };
  const to = ago.to === null ? parseTime(query.get('to')) : openedAt - ago.to;
  const from = ago.from === null ? parseTime(query.get('from')) : openedAt - ago.from;
  const endsNow = to === null || (ago.to === 0 && (ago.from !== null || from === null || from >= to));
  if (endsNow) return liveWindow(ago.from || span, now);
  if (from === null || from >= to) return { live: false, from: to - span, to };
  return { live: false, from, to };
}

export function writeWindow(window: Window): Record<'range' | 'from' | 'to', string | null> {
  if (window.live) return { range: writeSpan(lengthOf(window)), from: null, to: null };
  return { range: null, from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString() };
}

/** Limits a window to its bounds and to whole milliseconds. A window that reaches now becomes live. */
export function settle({ from, to }: { from: number; to: number }, { earliest, now }: Bounds): Window {
  const length = Math.min(
    Math.max(Math.round(to - from), NARROWEST_MS),
    Math.max(now - earliest, NARROWEST_MS),
  );
  const end = Math.min(Math.max(Math.round(to), earliest + length), now);
  if (now - end <= length * NEAR_NOW) return liveWindow(length, now);
  return { live: false, from: end - length, to: end };
}

/** Makes the window of a range that a user typed. Unlike `settle`, it does not move the range into the selectable time. */
export function typedWindow({ from, to }: { from: number; to: number }, now: number): Window {
  if (to >= now) return liveWindow(Math.min(Math.max(now - from, NARROWEST_MS), LONGEST_MS), now);
  return { live: false, from: Math.max(Math.min(from, to - NARROWEST_MS), EARLIEST_MS), to };
}

/** @param factor below 1: zooms in @param anchor time in epoch ms that keeps its place in the window */
export function zoom({ from, to }: Window, factor: number, anchor: number, bounds: Bounds) {
  const length = Math.max((to - from) * factor, NARROWEST_MS);
  const start = anchor - (length * (anchor - from)) / (to - from);
  return settle({ from: start, to: start + length }, bounds);
}

/** Zooms by one step, after a key or a button. A live window gets one of the offered lengths. @param anchor null: now, or the middle */
export function zoomStep(window: Window, direction: -1 | 1, anchor: number | null, bounds: Bounds) {
  const { live, from, to } = window;
  if (live && anchor === null) return liveWindow(nextSpan(to - from, direction), bounds.now);
  return zoom(window, direction < 0 ? 1 / ZOOM_STEP : ZOOM_STEP, anchor ?? (from + to) / 2, bounds);
}

/** @param ms distance in ms by which the window moves; negative: to an earlier time */
export const pan = ({ from, to }: Window, ms: number, bounds: Bounds) =>
  settle({ from: from + ms, to: to + ms }, bounds);

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 };

type RangeOption = { value: string; label: string; title: string; ms: number };

export const SPANS: RangeOption[] = [
  { value: '1m', label: '1 min', title: 'The last minute', ms: 60_000 },
  { value: '5m', label: '5 min', title: 'The last 5 minutes', ms: 300_000 },
  { value: '15m', label: '15 min', title: 'The last 15 minutes', ms: 900_000 },
  { value: '1h', label: '1 h', title: 'The last hour', ms: 3_600_000 },
  { value: '6h', label: '6 h', title: 'The last 6 hours', ms: 6 * 3_600_000 },
  { value: '1d', label: '1 d', title: 'The last day', ms: 86_400_000 },
  { value: '7d', label: '7 d', title: 'The last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', label: '30 d', title: 'The last 30 days', ms: 30 * 86_400_000 },
  { value: '1y', label: '1 y', title: 'The last 365 days', ms: UNITS_MS.y },
];

const DEFAULT_SPAN_MS = 300_000;

/** Maximum length of a window in an address, in ms. A longer window in an address is invalid. It is longer than any retention time. */
const LONGEST_MS = 100 * UNITS_MS.y;
const EARLIEST_MS = 0;

/** @param text such as `5m`, `90s`, `1500ms`; at most 100 years @returns length in ms */
export function parseSpan(text: string | null): number | null {
  const [, digits, unit] = /^(\d{1,12})(ms|[smhdy])$/.exec(text ?? '') ?? [];
  const ms = Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return ms > 0 && ms <= LONGEST_MS ? ms : null;
}

/** @param text relative time such as `now`, `-15m`, `-1h` @returns time span in ms before now */
export function parseAgo(text: string | null): number | null {
  if (text === 'now') return 0;
  return text?.startsWith('-') ? parseSpan(text.slice(1)) : null;
}

export function writeSpan(ms: number): string {
  const units = ['y', 'd', 'h', 'm', 's'] as (keyof typeof UNITS_MS)[];
  const unit = units.find((unit) => ms % UNITS_MS[unit] === 0) ?? 'ms';
  return `${ms / UNITS_MS[unit]}${unit}`;
}

const STEPS_MS = [
  1,
  10,
  100,
  ...[1, 5, 10, 30].map((seconds) => seconds * UNITS_MS.s),
  ...[1, 5, 10, 30].map((minutes) => minutes * UNITS_MS.m),
  ...[1, 6].map((hours) => hours * UNITS_MS.h),
  UNITS_MS.d,
];
/** Maximum rounding step as a share of the length. Half of such a step is a few pixels of a chart, which users do not notice. */
const UNSEEN = 0.02;

/** @returns a round length that differs from `ms` by a few pixels of the chart at most */
export function roundSpan(ms: number): number {
  const step = STEPS_MS.findLast((step) => step <= ms * UNSEEN) ?? 1;
  return Math.round(ms / step) * step;
}

/** @returns the next shorter (-1) or longer length in ms that the chart offers; `ms` itself at the end */
export function nextSpan(ms: number, direction: -1 | 1): number {
  const others = SPANS.filter((span) => (direction > 0 ? span.ms > ms : span.ms < ms));
  return (direction > 0 ? others[0] : others.at(-1))?.ms ?? ms;
}

/** Default of `HISTORY_DAYS` in ms. A chart can show this much time before now, unless older samples are known. */
const RETENTION_MS = 365 * 86_400_000;

/**
 * Returns the window of a view. The address holds the window, so reload, Back and sharing work. While the user drags, the
 * address does not change. At the end of the gesture the new window enters the address, and Back undoes the gesture.
 *
 * `settled` is the window of the address. `window` is the window to draw.
 *
 * @param newest time of the newest sample in epoch ms, so that samples of a device whose clock is ahead are shown, too
 * @param earliest time of the first sample in epoch ms, which may be older than the default retention time
 */
export function useWindow(newest: number | null, earliest: number = Number.POSITIVE_INFINITY) {
  const { clock, router } = useServices();
  const { query } = router.place.value;
  const now = Math.max(clock.time.value, newest ?? 0);
  const [draft, setDraft] = useState<Window | null>(null);
  const openedAt = useOpenedAt(query, now);
  const chosen = readWindow(query, now, openedAt);
  const home = useRef(DEFAULT_SPAN_MS);
  if (chosen.live) home.current = lengthOf(chosen);
  useEffect(() => setDraft(null), [query]);

  const stands = draft ?? chosen;
  const window = stands.live ? liveWindow(lengthOf(stands), now) : stands;
  const actions = useMemo(() => {
    const settleOn = (next: Window, how?: { replace?: boolean }) => {
      setDraft(null);
      const changes = writeWindow(next);
      const before = router.place.peek().query;
      const isNew = Object.entries(changes).some(([name, value]) => before.get(name) !== value);
      if (isNew) router.changeQuery(changes, how);
    };
    return {
      change(next: Window, isSettled: boolean) {
        if (!isSettled) setDraft(next);
        else settleOn(next.live ? liveWindow(roundSpan(lengthOf(next)), next.to) : next);
      },
      goLive: (ms: number) => settleOn(liveWindow(ms, clock.now())),
      reset: () => settleOn(liveWindow(home.current, clock.now())),
    };
  }, [router, clock]);

  const bounds = { now, earliest: Math.min(now - RETENTION_MS, earliest) };
  return { window, settled: chosen, bounds, ...actions };
}

/** Relative times of an address count from the time when it was opened. Otherwise each tick would move the window. */
function useOpenedAt(query: URLSearchParams, now: number): number {
  const range = ['from', 'to', 'range'].map((name) => query.get(name)).join(' ');
  const opened = useRef({ range, at: now });
  if (opened.current.range !== range) opened.current = { range, at: now };
  return opened.current.at;
}
