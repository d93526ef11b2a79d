import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/request.ts';
import { toProblem } from '../api/request.ts';
import { keyOf } from '../api/stream/index.ts';
import { useServices } from '../state/hooks.ts';
import type { Reader } from './reader.ts';
import { areFew, createReader, isDaily } from './reader.ts';
import type { Shape } from './shape.ts';
import { coarsen, emptyShape, join, within } from './shape.ts';
import type { Window } from './window.ts';
import { lengthOf } from './window.ts';

/** Pause in ms between the last move of a window and the request for its data. */
const PAUSE_MS = 120;
const SLOW_MS = 4_000;
const WINDOWS_KEPT = 30;

interface SeriesAnswer {
  /** shape of the window; until the new window is read, shape of the previous window */
  shape: Shape;
  loading: boolean;
  slow: boolean;
  /** the reason why the last read failed; temporary problems are retried */
  problem: Problem | null;
  reload: () => void;
}

/** Reads single samples if there are few samples in the window, otherwise bins. A live window is updated continuously. */
export function useSeries(
  sensor: { device_id: string; sensor_id: string } | null,
  window: Window,
  points: number,
): SeriesAnswer {
  const { client, clock, live, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const key = sensor ? keyOf(sensor) : '';
  const reader = useMemo(() => (sensor ? createReader(client, sensor, zone) : null), [client, key, zone]);
  const changes = live.historyChanges.value;
  const recent = useMemo(() => createLruCache<Shape>(WINDOWS_KEPT), [key, zone, changes]);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const [answer, setAnswer] = useState(NOTHING_YET);
  const isFirst = useRef(true);
  const { live: isLive, from, to } = window;
  const name = `${isLive ? to - from : `${from}/${to}`}/${points}`;

  // A live window moves with time, so only its length identifies the window.
  useEffect(() => {
    if (!reader) return undefined;
    const slowTimer = setTimeout(() => setAnswer((now) => ({ ...now, slow: true })), SLOW_MS);
    const known = recent.get(name);
    setAnswer((now) => ({ ...now, shape: known ?? now.shape, loading: true, slow: false }));
    let close = () => {};
    const open = () => {
      close = openFeed({
        reader,
        window: { live: isLive, from, to },
        points,
        end: () => Math.max(clock.now(), Date.parse(live.sensor(key)?.item.ts ?? '') || 0),
        subscribe: (listener) => live.subscribe(key, listener),
        onShape(shape) {
          recent.set(name, shape);
          setAnswer((now) => ({ ...now, shape, problem: null }));
        },
        onProblem: (problem) => setAnswer((now) => ({ ...now, problem })),
        onSettled() {
          clearTimeout(slowTimer);
          setAnswer((now) => (now.loading || now.problem ? { ...now, ...SETTLED } : now));
        },
      });
    };
    const openTimer = setTimeout(open, isFirst.current ? 0 : PAUSE_MS);
    isFirst.current = false;
    return () => {
      clearTimeout(slowTimer);
      clearTimeout(openTimer);
      close();
    };
  }, [clock, live, reader, recent, key, name, points, round]);

  return { ...answer, reload };
}

const SETTLED = { loading: false, slow: false, problem: null };

const NOTHING_YET: Omit<SeriesAnswer, 'reload'> = {
  shape: emptyShape({ from: 0, to: 0 }),
  loading: true,
  slow: false,
  problem: null,
};

/** Creates a cache that keeps the most recently used entries, and removes the other entries above `limit`. */
export function createLruCache<T>(limit: number) {
  const kept: Map<string, T> = new Map();
  return {
    get: (name: string): T | undefined => kept.get(name),
    set(name: string, thing: T) {
      // A new insertion moves the entry to the end, so that it is removed last.
      kept.delete(name);
      kept.set(name, thing);
      for (const oldest of kept.keys()) {
        if (kept.size <= limit) return;
        kept.delete(oldest);
      }
    },
  };
}

/** Interval of requests for new data, in ms. For bins, the interval is at least the time of one pixel. */
const POLL_MS = { samples: 250, min: 1_000, max: 10_000 };
/** Interval in ms of a complete read, which includes late samples. */
const RELOAD_MS = 60_000;
/** Pause in ms before a retry after a temporary problem. */
const RETRY_MS = 5_000;
const PIXELS = 1000;
/** Number of known bins that are read again together with new bins. For a shorter range, the API might choose another bin width. */
const BINS_AGAIN = 3;

interface FeedOptions {
  reader: Reader;
  window: Window;
  points: number;
  end: () => number;
  subscribe: ((listener: () => void) => () => void) | null;
  onShape: (shape: Shape) => void;
  onProblem: (problem: Problem) => void;
  onSettled: () => void;
}

/** Reads a window, continuously if it is live: first bins, then single samples if there are few. @returns a function that stops */
export function openFeed(options: FeedOptions): () => void {
  const feed = new Feed(options);
  return () => feed.close();
}

class Feed {
  readonly #options: FeedOptions;
  readonly #length: number;
  readonly #abort = new AbortController();
  readonly #unsubscribe: (() => void) | undefined;
  #shape: Shape | null = null;
  #readAt = 0;
  #news = false;
  #busy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#length = lengthOf(options.window);
    if (options.window.live) {
      this.#unsubscribe = options.subscribe?.(() => {
        this.#news = true;
        if (!this.#busy) this.#pollLater();
      });
    }
    void this.#poll();
  }

  close() {
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #pollLater() {
    const binMs = Math.min(Math.max(this.#length / PIXELS, POLL_MS.min), POLL_MS.max);
    this.#timer ??= setTimeout(this.#again, this.#shape?.stepMs === null ? POLL_MS.samples : binMs);
  }

  readonly #again = () => {
    this.#timer = undefined;
    if (!this.#busy) void this.#poll();
  };

  async #poll() {
    this.#busy = true;
    this.#news = false;
    clearTimeout(this.#timer);
    const { signal } = this.#abort;
    try {
      const shape = this.#shape;
      const grown = shape?.stepMs === null && shape.ts.length > 1 && !areFew(shape);
      const isOld = Date.now() - this.#readAt > Math.max(RELOAD_MS, this.#length / PIXELS);
      if (!shape || grown || isOld) await this.#readAll();
      else await this.#readOn(shape);
      if (!signal.aborted) this.#options.onSettled();
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
    this.#busy = false;
    if (this.#news && !signal.aborted) this.#pollLater();
  }

  async #readAll() {
    const { reader, window, points, end } = this.#options;
    const { signal } = this.#abort;
    const to = window.live ? end() + 1 : window.to;
    const range = { from: to - this.#length, to };
    this.#readAt = Date.now();
    const bins = isDaily(this.#length)
      ? await reader.days(range, signal)
      : await reader.bins(range, points, signal);
    const isRaw = areFew(bins);
    // If the chart already shows samples, the chart needs no bins while new samples are read.
    if (!isRaw || this.#shape?.stepMs !== null) this.#publish(bins);
    if (isRaw) this.#publish(await reader.samples(range, signal));
  }

  async #readOn(held: Shape) {
    const { reader, end } = this.#options;
    const { signal } = this.#abort;
    const to = end() + 1;
    const kept = within(held, { from: to - this.#length, to });
    const { stepMs } = held;
    const last = held.ts.at(-1) ?? kept.from;
    if (stepMs === null) {
      this.#publish(join(kept, await reader.samples({ from: last, to }, signal)));
      return;
    }
    if (isDaily(this.#length)) {
      const from = reader.dayBefore(last, BINS_AGAIN);
      this.#publish(join(kept, await reader.days({ from, to }, signal)));
      return;
    }
    const from = last - BINS_AGAIN * stepMs;
    const bins = await reader.bins({ from, to }, Math.ceil(to / stepMs) - Math.floor(from / stepMs), signal);
    this.#publish(join(kept, coarsen(bins, stepMs)));
  }

  #publish(next: Shape) {
    if (this.#abort.signal.aborted) return;
    this.#shape = next;
    this.#options.onShape(next);
  }

  #fail(error: unknown) {
    const problem = toProblem(error);
    this.#options.onProblem(problem);
    this.#readAt = 0;
    if (problem.isTemporary) this.#timer = setTimeout(this.#again, RETRY_MS);
  }
}
