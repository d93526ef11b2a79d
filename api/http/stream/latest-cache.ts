/** @import { Logger } from 'pino' */
/** @import { LiveItem } from '../../live/messages.js' */
/** @import { LatestRow } from '../../store/devices/latest-rows.js' */

/**
 * Adds to an item how unusual its value is.
 *
 * @callback Judge
 * @param {string} key
 * @param {JudgedItem} item
 * @returns {void}
 */

/**
 * An item with a judgment of its value. `sigmas` is the distance of the value from the sensor's usual value (baseline), in
 * standard deviations. It is undefined while no baseline is known, so JSON omits it.
 *
 * @typedef {LiveItem & { sigmas: number | undefined }} JudgedItem
 */

/**
 * The cached state of one sensor.
 *
 * @typedef {object} Entry
 * @property {JudgedItem} item a copy, changed in place
 * @property {number} position position of its last change
 * @property {number} resync number of the last resync that found the sensor
 * @property {number} committedAt commit time of its value in ms of `performance.now()`; `Infinity` if the value was read from
 *   the database, which does not have that time
 */

/** The commit time of a value that was read from the database is unknown. */
const UNKNOWN = Number.POSITIVE_INFINITY;

const LABELS = /** @type {const} */ (['device', 'name', 'type', 'unit', 'site']);

/** @param {LiveItem} a @param {LiveItem} b */
const sameLabels = (a, b) => LABELS.every((label) => a[label] === b[label]);

/**
 * The newest values that a channel follows. Changes are numbered: each entry has a position, which is the number of its last
 * change. A reader that got everything up to a position needs only the entries that changed later. So memory is bounded by the
 * number of sensors, and a slow reader misses no newest value.
 *
 * A resync, the periodic re-read of `latest`, repairs lost updates. If an entry has not changed since the read started, the
 * value of the database replaces it. An entry that has changed meanwhile is replaced only by a newer value.
 */
export class LatestCache {
  /** @type {Map<string, Entry>} */
  #entries = new Map();
  /** @type {Set<Entry>} entries that changed after `#sentPosition` */
  #unsent = new Set();
  #position = 0;
  #sentPosition = 0;
  #resync = 0;
  #judge;

  /** @param {Judge} [judge] default: no baseline is known for any sensor */
  constructor(judge = () => {}) {
    this.#judge = judge;
  }

  /** @returns {number} position of the last change: the number of changes so far */
  get position() {
    return this.#position;
  }

  /**
   * Takes a published item.
   *
   * @param {LiveItem} item
   * @param {number} committedAt ms of `performance.now()`
   * @returns {boolean} whether it changed the cache
   */
  update(item, committedAt) {
    const key = keyOf(item);
    const entry = this.#entries.get(key);
    if (!entry) return this.#add(key, item, committedAt);
    return isNewer(item, entry.item) && this.#replace(key, entry, item, committedAt);
  }

  /** Starts a resync. */
  beginResync() {
    this.#resync++;
  }

  /**
   * Takes an item that a resync read from `latest`.
   *
   * @param {LiveItem} item
   * @param {number} since position of the cache when the read started
   * @returns {boolean} whether the item shows a change that the cache had missed; a new interval does not count, because
   *   published items have no interval
   */
  refresh(item, since) {
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

  /**
   * Ends a resync: removes entries that the resync did not find, and that have not changed since it started.
   *
   * @param {number} since position of the cache when the resync started
   */
  endResync(since) {
    const before = this.#entries.size;
    for (const [key, entry] of this.#entries) {
      if (entry.resync < this.#resync && entry.position <= since) this.#entries.delete(key);
    }
    // Snapshots are cached by position. The cached snapshot contains the removed entries, so it must not be used again.
    if (this.#entries.size < before) this.#position++;
  }

  /** Removes the sensors of a retired device. @param {string} device id */
  removeDevice(device) {
    const before = this.#entries.size;
    for (const [key, { item }] of this.#entries) if (item.device_id === device) this.#entries.delete(key);
    if (this.#entries.size < before) this.#position++;
  }

  /** @param {number} position @returns {Entry[]} the entries that changed after this position */
  since(position) {
    const candidates = position >= this.#sentPosition ? this.#unsent : this.#entries.values();
    return [...candidates].filter((entry) => entry.position > position);
  }

  /** @returns {Entry[]} */
  all() {
    return [...this.#entries.values()];
  }

  /**
   * Judges all values again after their baselines have changed.
   *
   * @returns {boolean} whether the cache changed
   */
  judgeAgain() {
    const before = this.#position;
    for (const [key, entry] of this.#entries) {
      const { sigmas } = entry.item;
      this.#judge(key, entry.item);
      if (entry.item.sigmas !== sigmas) this.#noteChange(entry, UNKNOWN);
    }
    return this.#position > before;
  }

  /** Notes that all present changes were sent. */
  markSent() {
    this.#sentPosition = this.#position;
    this.#unsent = new Set();
  }

  /** @param {string} key @param {LiveItem} item @param {number} committedAt */
  #add(key, item, committedAt) {
    const judged = { ...item, sigmas: undefined };
    this.#judge(key, judged);
    const entry = { item: judged, position: this.#position, resync: this.#resync, committedAt };
    this.#entries.set(key, entry);
    return this.#noteChange(entry, committedAt);
  }

  /** @param {string} key @param {Entry} entry @param {LiveItem} item @param {number} committedAt */
  #replace(key, entry, item, committedAt) {
    const { item: own } = entry;
    own.ts = item.ts;
    own.value = item.value;
    this.#judge(key, own);
    // Keep equal stored labels: they are long-lived objects already. New equal labels would only be more work for the garbage
    // collector.
    if (!sameLabels(own, item)) for (const label of LABELS) own[label] = item[label];
    return this.#noteChange(entry, committedAt);
  }

  /** @param {Entry} entry @param {number} committedAt */
  #noteChange(entry, committedAt) {
    entry.committedAt = committedAt;
    entry.position = ++this.#position;
    this.#unsent.add(entry);
    return true;
  }
}

/** @param {Pick<LiveItem, 'device_id' | 'sensor_id'>} item */
export const keyOf = ({ device_id, sensor_id }) => `${device_id}/${sensor_id}`;

/**
 * Whether an item is newer than the cached item. An equal time does not count: the database keeps only one of two values of an
 * instant, and the next resync reads that value.
 *
 * @param {LiveItem} item
 * @param {LiveItem} cached
 */
const isNewer = (item, cached) => item.ts !== null && (cached.ts === null || item.ts > cached.ts);

/** Delay in ms before a failed resync is repeated; `everyMs` if that is shorter. */
const RETRY_MS = 5000;

/**
 * Reads the sensors of a channel: once when the channel opens, then repeatedly. Each repeated read is spread over `everyMs`,
 * page by page. If live changes may have been lost, it reads all pages at once.
 *
 * @param {object} deps
 * @param {() => AsyncIterator<LatestRow[]>} deps.pages starts a read, and returns its pages
 * @param {(read: () => Promise<LatestRow[] | null>) => Promise<boolean>} deps.takePage reads one page into the cache; false: the
 *   last page was read before
 * @param {() => void} deps.begin called before a read
 * @param {() => void} deps.end called after a complete read
 * @param {number} deps.everyMs
 * @param {Logger} deps.logger
 */
export function createResync({ pages, takePage, begin, end, everyMs, logger }) {
  let stopped = false;
  let urgent = false;
  let pageCount = 1;
  let wake = () => {};

  /** @param {number} ms @returns {Promise<void>} */
  const pause = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /**
   * @param {number} pauseMs pause before each page
   * @returns {Promise<void>} settles after the last page, or early after `refreshNow` or `stop`
   */
  async function readAll(pauseMs) {
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
    /** @returns {Promise<void>} settles after the first complete read; rejects if that read fails */
    async start() {
      do {
        urgent = false;
        await readAll(0);
      } while (urgent && !stopped);
      void keepReading();
    },

    /** Reads all pages now, without pauses. */
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
