import type { Logger } from 'pino';
import type { LiveItem } from '../../live/messages.ts';
import type { LatestRow } from '../../store/devices/latest-rows.ts';

type Judge = (key: string, item: JudgedItem) => void;

/**
 * `sigmas` is the distance of the value from the sensor's usual value, in standard deviations. It is undefined while no usual value is
 * known, so JSON omits it.
 */
export type JudgedItem = LiveItem & { sigmas: number | undefined };

export interface Entry {
  /** a copy, changed in place */
  item: JudgedItem;
  position: number;
  /** number of the last resync that found the sensor */
  resync: number;
  /** ms of `performance.now()`; `Infinity` if the value was read from the database, which does not have that time */
  committedAt: number;
}

/** The commit time of a value that was read from the database is unknown. */
const UNKNOWN = Number.POSITIVE_INFINITY;

const LABELS = ['device', 'name', 'type', 'unit', 'site'] as const;

const sameLabels = (a: LiveItem, b: LiveItem) => LABELS.every((label) => a[label] === b[label]);

/**
 * The newest values that a channel follows. Changes are numbered: each entry has a position, which is the number of its last
 * change. A reader that got everything up to a position needs only the entries that changed later. So memory is bounded by the
 * number of sensors, and a slow reader misses no newest value.
 *
 * A resync, the periodic re-read of `latest`, repairs lost updates. If an entry has not changed since the read started, the
 * value of the database replaces it. An entry that has changed meanwhile is replaced only by a newer value.
 */
export class LatestCache {
  #entries: Map<string, Entry> = new Map();
  #unsent: Set<Entry> = new Set();
  #position = 0;
  #sentPosition = 0;
  #resync = 0;
  #judge;

  /** By default no value is judged. */
  constructor(judge: Judge = () => {}) {
    this.#judge = judge;
  }

  get position(): number {
    return this.#position;
  }

  /** `committedAt`: ms of `performance.now()`. True: the cache has changed. */
  update(item: LiveItem, committedAt: number): boolean {
    const key = keyOf(item);
    const entry = this.#entries.get(key);
    if (!entry) return this.#add(key, item, committedAt);
    const isTaken = isNewer(item, entry.item) || isCorrection(item, entry.item);
    return isTaken && this.#replace(key, entry, item, committedAt);
  }

  beginResync() {
    this.#resync++;
  }

  /**
   * `since`: position of the cache when the read from `latest` started. True: the cache had missed a change. A new interval does not count,
   * because published items have no interval.
   */
  refresh(item: LiveItem, since: number): boolean {
    const key = keyOf(item);
    const entry = this.#entries.get(key);
    if (!entry) return this.#add(key, item, UNKNOWN);
    entry.resync = this.#resync;
    const { item: own } = entry;
    if (entry.position > since) return isNewer(item, own) && this.#replace(key, entry, item, UNKNOWN);
    if (item.interval_ms !== own.interval_ms) {
      own.interval_ms = item.interval_ms;
      this.#noteChange(entry, UNKNOWN);
    }
    const isSame = item.ts === own.ts && item.value === own.value && sameLabels(item, own);
    return !isSame && this.#replace(key, entry, item, UNKNOWN);
  }

  /** Removes entries that the resync did not find, and that have not changed since it started (`since`). */
  endResync(since: number) {
    const before = this.#entries.size;
    for (const [key, entry] of this.#entries) {
      if (entry.resync < this.#resync && entry.position <= since) this.#entries.delete(key);
    }
    // Snapshots are cached by position. The cached snapshot contains the removed entries, so it must not be used again.
    if (this.#entries.size < before) this.#position++;
  }

  removeDevice(device: string) {
    const before = this.#entries.size;
    for (const [key, { item }] of this.#entries) if (item.device_id === device) this.#entries.delete(key);
    if (this.#entries.size < before) this.#position++;
  }

  since(position: number): Entry[] {
    const candidates = position >= this.#sentPosition ? this.#unsent : this.#entries.values();
    return [...candidates].filter((entry) => entry.position > position);
  }

  all(): Entry[] {
    return [...this.#entries.values()];
  }

  /** Call it after the judge has learned what is usual. True: the cache has changed. */
  judgeAgain(): boolean {
    const before = this.#position;
    for (const [key, entry] of this.#entries) {
      const { sigmas } = entry.item;
      this.#judge(key, entry.item);
      if (entry.item.sigmas !== sigmas) this.#noteChange(entry, UNKNOWN);
    }
    return this.#position > before;
  }

  markSent() {
    this.#sentPosition = this.#position;
    this.#unsent = new Set();
  }

  #add(key: string, item: LiveItem, committedAt: number) {
    const judged = { ...(item.corrected_until === undefined ? item : plainItem(item)), sigmas: undefined };
    this.#judge(key, judged);
    const entry = { item: judged, position: this.#position, resync: this.#resync, committedAt };
    this.#entries.set(key, entry);
    return this.#noteChange(entry, committedAt);
  }

  #replace(key: string, entry: Entry, item: LiveItem, committedAt: number) {
    const { item: own } = entry;
    own.ts = item.ts;
    own.value = item.value;
    this.#judge(key, own);
    // Keep equal stored labels: they are long-lived objects already. New equal labels would only be more work for the garbage collector.
    if (!sameLabels(own, item)) for (const label of LABELS) own[label] = item[label];
    return this.#noteChange(entry, committedAt);
  }

  #noteChange(entry: Entry, committedAt: number) {
    entry.committedAt = committedAt;
    entry.position = ++this.#position;
    this.#unsent.add(entry);
    return true;
  }
}

export const keyOf = ({ device_id, sensor_id }: Pick<LiveItem, 'device_id' | 'sensor_id'>) =>
  `${device_id}/${sensor_id}`;

/** An equal time does not count: the database keeps only one of two values of an instant, and the next resync reads that value. */
const isNewer = (item: LiveItem, cached: LiveItem) =>
  item.ts !== null && (cached.ts === null || item.ts > cached.ts);

const plainItem = ({ corrected_until: _, ...item }: LiveItem): LiveItem => item;

/** It may be older than the cached sample, or have the same time. */
const isCorrection = ({ ts, value, corrected_until: until }: LiveItem, cached: LiveItem) =>
  until !== undefined &&
  (cached.ts === null || cached.ts <= until) &&
  (ts !== cached.ts || value !== cached.value);

/** In ms, before a failed resync is repeated; `everyMs` if that is shorter. */
const RETRY_MS = 5000;

/**
 * Reads a channel's sensors when it opens, then repeatedly. Each repeated read is spread over `everyMs`, page by page. If live changes may
 * have been lost, it reads all pages at once.
 */
export function createResync({
  pages,
  takePage,
  begin,
  end,
  everyMs,
  logger,
}: {
  pages: () => AsyncIterator<LatestRow[]>;
  /** reads one page into the cache; false: the last page was read before */
  takePage: (read: () => Promise<LatestRow[] | null>) => Promise<boolean>;
  begin: () => void;
  end: () => void;
  everyMs: number;
  logger: Logger;
}) {
  let stopped = false;
  let urgent = false;
  let pageCount = 1;
  let wake = () => {};

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** `pauseMs`: before each page. Ends early after `refreshNow` or `stop`. */
  async function readAll(pauseMs: number): Promise<void> {
    const iterator = pages();
    const read = async () => {
      const { done: isDone, value } = await iterator.next();
      return isDone ? null : value;
    };
    begin();
    for (let pagesRead = 0; ; pagesRead++) {
      if (pauseMs > 0) await pause(pauseMs);
      if (stopped || urgent) return;
      if (!(await takePage(read))) {
        pageCount = Math.max(1, pagesRead);
        return end();
      }
    }
  }

  async function keepReading() {
    while (!stopped) {
      // A read has one pause more than pages: the last pause comes before the read that finds no further page.
      const pauseMs = urgent ? 0 : everyMs / (pageCount + 1);
      urgent = false;
      try {
        await readAll(pauseMs);
      } catch (error) {
        logger.warn({ reason: String(error) }, 'a resync of the live stream failed');
        if (!stopped) await pause(Math.min(RETRY_MS, everyMs));
        urgent = true;
      }
    }
  }

  return {
    /** Resolves after the first complete read, and rejects if that read fails. */
    async start(): Promise<void> {
      do {
        urgent = false;
        await readAll(0);
      } while (urgent && !stopped);
      void keepReading();
    },

    refreshNow() {
      urgent = true;
      wake();
    },

    stop() {
      stopped = true;
      wake();
    },
  };
}
