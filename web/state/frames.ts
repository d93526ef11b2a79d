import { signal } from '@preact/signals';
import type { LatestItem } from '../api/types.ts';
import { decimalsOf, usualDecimals } from '../format.ts';

/**
 * Collects changes and notifies listeners once before the next frame: a sensor that changes a hundred times
 * between two frames is drawn once.
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
    /** @returns ends it */
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
 * Script time of one frame in which texts are taken in, in ms. The text that need not wait counts, too. Further texts wait for the next
 * frame.
 */
const BUDGET_MS = 2;
/** The most texts that may wait. With more, all are processed at once. */
const MOST_WAITING = 200;

/**
 * Takes texts in as frames allow: a snapshot of ten thousand sensors comes in ten events at once, and must not hold up the page. Where no
 * frames are drawn, in a tab behind others, each is taken in as it comes.
 */
export function createInputQueue({
  take,
  requestFrame,
  isHidden,
  clock = () => performance.now(),
}: {
  /** `arrivedAt` by `clock`; `isLast` as pushed */
  take: (text: string, arrivedAt: number, isLast: boolean) => void;
  requestFrame: (run: () => void) => void;
  isHidden: () => boolean;
  /** ms */
  clock?: () => number;
}) {
  let waiting: { text: string; at: number; isLast: boolean }[] = [];
  let requested = false;
  /** Script time of the text that did not wait, in ms; null: there was none since the last frame. */
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
    /** @param isLast it completes a snapshot */
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

/** How long it takes from a commit until it is seen, in ms, by the last seconds. `at`: epoch ms. */
type ScreenTimes = { at: number; p50: number; p99: number };

/** Times of so many changes that were shown last make a figure. */
const TIMES_KEPT = 256;
/** Older times are not used, in ms. */
const FRESH_MS = 10_000;
/** Figures kept for a sparkline: one a second. */
const FIGURES_KEPT = 300;

/**
 * Measures the time until values are on the screen. The server measures its own part, the browser the rest. Two clocks are never
 * compared, so the time in the network is missing.
 */
export function createScreenTimes({
  requestFrame,
  afterPaint,
  clock = () => performance.now(),
}: {
  requestFrame: (run: () => void) => void;
  /** called within a frame; runs when that is painted */
  afterPaint: (run: () => void) => void;
  /** ms */
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

    /**
     * @param waitedMs from the commit until it was sent
     * @param arrivedAt by `clock`
     */
    arrived(waitedMs: number, arrivedAt: number) {
      if (arrivedAt <= hiddenAt) return;
      unseen.push({ waitedMs, arrivedAt });
      if (unseen.length === 1) requestFrame(() => afterPaint(noteAll));
    },

    /** Notes that the page was hidden. Its next frame may come at any time, so values that arrived until now do not count. */
    noteHidden() {
      hiddenAt = clock();
      unseen = [];
    },

    /**
     * Computes the latency of this second.
     *
     * @param now epoch ms
     */
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

/** The recent values of one sensor. */
interface Seen {
  item: LatestItem;
  /** values as they came, oldest first; `ts` in epoch ms */
  recent: { ts: number; value: number }[];
}

/** Values of one sensor: enough for a sparkline of 64 px. */
const VALUES_KEPT = 60;
/** Sensors: some pages of the table, so that going back finds the sparklines again; then memory stays flat. */
const SENSORS_KEPT = 2000;

/** Newest values by sensor, with a short tail of those before. */
export function createRecentValues() {
  const sensors: Map<string, Seen> = new Map();
  /** By type and unit: decimals of values seen, and the largest of them. */
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
    /** @param key device_id/sensor_id */
    get: (key: string): Seen | undefined => sensors.get(key),

    /** @returns whether it is new: older and repeated values are not */
    take(item: LatestItem): boolean {
      const key = `${item.device_id}/${item.sensor_id}`;
      const seen = sensors.get(key);
      learnDecimals(item);
      if (!seen) {
        sensors.set(key, { item, recent: tail([], item) });
        forgetOldest(sensors);
        return true;
      }
      if (!isNews(seen.item, item)) return false;
      // Taken out and put in again, it stands last among those to be forgotten.
      sensors.delete(key);
      sensors.set(key, { item, recent: tail(seen.recent, item) });
      return true;
    },

    /**
     * @param before oldest first
     * @returns whether anything was new
     */
    takeBefore(key: string, before: { ts: number; value: number }[]): boolean {
      const seen = sensors.get(key);
      const oldest = seen?.recent[0]?.ts ?? Number.NEGATIVE_INFINITY;
      const older = before.filter(({ ts }) => ts < oldest);
      if (!seen || older.length === 0) return false;
      sensors.set(key, { ...seen, recent: [...older, ...seen.recent].slice(-VALUES_KEPT) });
      return true;
    },

    /** @returns decimals that suit all values of its type: what the largest is worth, if the smallest has them */
    decimals({ type, unit }: LatestItem): number {
      const { decimals = 0, largest = 0 } = kinds.get(`${type}\n${unit}`) ?? {};
      return Math.min(decimals, usualDecimals(largest));
    },
  };
}

function isNews(known: LatestItem, item: LatestItem) {
  if (item.ts === null) return known.ts === null && !sameLabels(known, item);
  // One format and one zone: ISO 8601 texts of the API sort as times do.
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
