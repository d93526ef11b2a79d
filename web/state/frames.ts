import { signal } from '@preact/signals';
import { keyOf } from '../api/stream/index.ts';
import type { LatestItem } from '../api/types.ts';
import { decimalsOf, usualDecimals } from '../format.ts';

/**
 * Collects changes, and notifies listeners once before the next animation frame. So a sensor that changes 100 times between two
 * frames is drawn once.
 */
export function createChangeQueue(requestFrame: (run: () => void) => void) {
  let waiting: Set<string> = new Set();
  const listeners: Map<string, Set<() => void>> = new Map();

  function flush() {
    const keys = [...waiting];
    waiting = new Set();
    for (const key of keys) {
      for (const listener of [...(listeners.get(key) ?? [])]) listener();
    }
  }

  return {
    notify(key: string) {
      if (waiting.size === 0) requestFrame(flush);
      waiting.add(key);
    },
    /** @returns a function that ends the subscription */
    subscribe(key: string, listener: () => void): () => void {
      const own = listeners.get(key) ?? new Set();
      listeners.set(key, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(key) === own) listeners.delete(key);
      };
    },
  };
}

/**
 * Maximum script time per animation frame for processing texts, in ms. The time of texts that were processed without a wait
 * counts, too. Above the limit, further texts wait for the next frame.
 */
const BUDGET_MS = 2;
/** Maximum number of waiting texts. If more texts wait, all are processed at once. */
const MOST_WAITING = 200;

/**
 * Creates a queue that spreads the processing of texts over animation frames: a snapshot of 10,000 sensors arrives in ten
 * events at once, and must not block the page. A hidden tab draws no frames, so there each text is processed at once.
 */
export function createInputQueue({
  take,
  requestFrame,
  isHidden,
  clock = () => performance.now(),
}: {
  /** processes a text; `arrivedAt`: time by `clock`; `isLast`: as passed to `push` */
  take: (text: string, arrivedAt: number, isLast: boolean) => void;
  requestFrame: (run: () => void) => void;
  isHidden: () => boolean;
  clock?: () => number;
}) {
  let waiting: { text: string; at: number; isLast: boolean }[] = [];
  let requested = false;
  /** Script time in ms of texts that were processed without a wait since the last frame; null: there were none. */
  let spentMs: number | null = null;

  function takeSome() {
    requested = false;
    const began = clock() - (spentMs ?? 0);
    spentMs = null;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      take(next.text, next.at, next.isLast);
      if (clock() - began >= BUDGET_MS) break;
    }
    if (waiting.length > 0) request();
  }

  function request() {
    if (requested) return;
    requested = true;
    requestFrame(takeSome);
  }

  function takeAll() {
    const all = waiting;
    waiting = [];
    for (const { text, at, isLast } of all) take(text, at, isLast);
  }

  return {
    /** @param isLast whether the text completes a snapshot */
    push(text: string, isLast: boolean = false) {
      waiting.push({ text, at: clock(), isLast });
      if (isHidden() || waiting.length > MOST_WAITING) return takeAll();
      if (spentMs === null && waiting.length === 1) {
        const began = clock();
        takeAll();
        spentMs = clock() - began;
      }
      request();
    },
  };
}

/** Time from commit to screen in the last seconds, in ms. `at`: epoch ms */
type ScreenTimes = { at: number; p50: number; p99: number };

/** Number of last shown changes from which the percentiles are computed. */
const TIMES_KEPT = 256;
/** Maximum age in ms of the times from which the percentiles are computed. */
const FRESH_MS = 10_000;
/** Number of percentiles that are kept for the sparkline, one per second. */
const FIGURES_KEPT = 300;

/**
 * Measures the time from commit to screen. The server measures its part of the time, and the browser measures the rest. The two
 * clocks are never compared, so the network time is missing.
 */
export function createScreenTimes({
  requestFrame,
  afterPaint,
  clock = () => performance.now(),
}: {
  requestFrame: (run: () => void) => void;
  /** is called within an animation frame; runs the function after the paint */
  afterPaint: (run: () => void) => void;
  clock?: () => number;
}) {
  const figures = signal<ScreenTimes[]>([]);
  let times: { ms: number; shownAt: number }[] = [];
  let unseen: { waitedMs: number; arrivedAt: number }[] = [];
  let hiddenAt = Number.NEGATIVE_INFINITY;

  function noteAll() {
    const shownAt = clock();
    times.push(...unseen.map(({ waitedMs, arrivedAt }) => ({ ms: waitedMs + shownAt - arrivedAt, shownAt })));
    times = times.slice(-TIMES_KEPT);
    unseen = [];
  }

  return {
    figures,

    /** @param waitedMs time from the commit until the server sent the value @param arrivedAt time by `clock` */
    arrived(waitedMs: number, arrivedAt: number) {
      if (arrivedAt <= hiddenAt) return;
      unseen.push({ waitedMs, arrivedAt });
      if (unseen.length === 1) requestFrame(() => afterPaint(noteAll));
    },

    /**
     * Notes that the page was hidden. The next frame may come much later, so values that arrived until now do not
     * count.
     */
    noteHidden() {
      hiddenAt = clock();
      unseen = [];
    },

    /** Computes the percentiles of this second. */
    sum(now: number) {
      const oldest = clock() - FRESH_MS;
      const sorted = times.flatMap(({ ms, shownAt }) => (shownAt > oldest ? [ms] : [])).sort((a, b) => a - b);
      if (sorted.length === 0) return;
      const quantile = (share: number) =>
        Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
      const figure = { at: now, p50: quantile(0.5), p99: quantile(0.99) };
      figures.value = [...figures.peek().slice(1 - FIGURES_KEPT), figure];
    },
  };
}

interface Seen {
  item: LatestItem;
  /** values in order of arrival, oldest first; `ts` in epoch ms */
  recent: { ts: number; value: number }[];
}

/** Maximum number of stored values per sensor, enough for a sparkline of 64 px. */
const VALUES_KEPT = 60;
/**
 * Maximum number of sensors with stored values: enough for some table pages, so that Back finds the sparklines. The limit
 * bounds the memory.
 */
const SENSORS_KEPT = 2000;

/** Creates the store of the newest value of each sensor, with some earlier values. */
export function createRecentValues() {
  const sensors: Map<string, Seen> = new Map();
  /** Number of decimals and largest value, by type and unit. */
  const kinds: Map<string, { decimals: number; largest: number }> = new Map();

  function learnDecimals({ type, unit, value }: LatestItem) {
    if (value === null || !Number.isFinite(value)) return;
    const key = `${type}\n${unit}`;
    const kind = kinds.get(key) ?? { decimals: 0, largest: 0 };
    kind.decimals = Math.max(kind.decimals, decimalsOf(value));
    kind.largest = Math.max(kind.largest, Math.abs(value));
    kinds.set(key, kind);
  }

  return {
    get: (key: string): Seen | undefined => sensors.get(key),

    /** @returns whether the value is new; older and repeated values are not */
    take(item: LatestItem): boolean {
      const key = keyOf(item);
      const seen = sensors.get(key);
      learnDecimals(item);
      if (!seen) {
        sensors.set(key, { item, recent: tail([], item) });
        forgetOldest(sensors);
        return true;
      }
      if (!isNews(seen.item, item)) return false;
      // A sensor that is deleted and added again moves to the end of the map, so that it is removed last.
      sensors.delete(key);
      sensors.set(key, { item, recent: tail(seen.recent, item) });
      return true;
    },

    /** @param before earlier values, oldest first @returns whether any earlier value was new */
    takeBefore(key: string, before: { ts: number; value: number }[]): boolean {
      const seen = sensors.get(key);
      const oldest = seen?.recent[0]?.ts ?? Number.NEGATIVE_INFINITY;
      const older = before.filter(({ ts }) => ts < oldest);
      if (!seen || older.length === 0) return false;
      sensors.set(key, { ...seen, recent: [...older, ...seen.recent].slice(-VALUES_KEPT) });
      return true;
    },

    /** @returns number of decimals for all values of a type and unit, limited by the size of the largest value */
    decimals({ type, unit }: LatestItem): number {
      const { decimals = 0, largest = 0 } = kinds.get(`${type}\n${unit}`) ?? {};
      return Math.min(decimals, usualDecimals(largest));
    },
  };
}

function isNews(known: LatestItem, item: LatestItem) {
  if (item.ts === null) return known.ts === null && !sameLabels(known, item);
  // ISO 8601 texts of the API have one format and zone, so they sort like times.
  if (known.ts === null || item.ts > known.ts) return true;
  return item.ts === known.ts && (item.value !== known.value || !sameLabels(known, item));
}

const sameLabels = (a: LatestItem, b: LatestItem) =>
  a.device === b.device && a.name === b.name && a.type === b.type && a.unit === b.unit && a.site === b.site;

function tail(recent: Seen['recent'], { ts, value }: LatestItem): Seen['recent'] {
  if (ts === null || value === null) return recent;
  const at = Date.parse(ts);
  const before = recent.at(-1)?.ts === at ? recent.slice(0, -1) : recent;
  return [...before.slice(1 - VALUES_KEPT), { ts: at, value }];
}

function forgetOldest(sensors: Map<string, Seen>) {
  if (sensors.size <= SENSORS_KEPT) return;
  for (const key of sensors.keys()) {
    sensors.delete(key);
    return;
  }
}
