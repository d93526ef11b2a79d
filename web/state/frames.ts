import { keyOf } from '../api/stream/index.ts';
import type { LatestItem } from '../api/types.ts';
import { decimalsOf, usualDecimals } from '../format.ts';

/** Notifies listeners once before the next animation frame, so that a sensor that changes 100 times is drawn once. */
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

/** Maximum script time in ms per animation frame for processing texts. Above it, further texts wait for the next frame. */
const BUDGET_MS = 2;
/** Maximum number of waiting texts. If more texts wait, all are processed at once. */
const MOST_WAITING = 200;

/** Spreads the processing of texts over animation frames: a snapshot of 10,000 sensors arrives in ten events, and must not block the page. */
export function createInputQueue({
  take,
  requestFrame,
  isHidden,
  clock = () => performance.now(),
}: {
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

interface Seen {
  item: LatestItem;
  /** values in order of arrival, oldest first; `ts` in epoch ms */
  recent: { ts: number; value: number }[];
}

/** Maximum number of stored values per sensor, enough for a sparkline of 64 px. */
const VALUES_KEPT = 60;
/** Maximum number of sensors with stored values, enough that Back finds the sparklines of some table pages. */
const SENSORS_KEPT = 2000;

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
