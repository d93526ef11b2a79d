/** @import { LatestRow } from '../../store/devices/latest-rows.js' */
/** @import { LiveItem } from '../../live/messages.js' */
/** @import { Logger } from 'pino' */

/**
 * What is known of one sensor.
 *
 * @typedef {object} Entry
 * @property {LiveItem} item a copy of our own, changed in place
 * @property {number} position of its last change
 * @property {number} reading in which it was last met
 * @property {number} committedAt when its value was committed, in ms of `performance.now()`; `Infinity` where nobody has said: it was read
 */

/** When a value was committed that was read: whenever it was, nobody measures it. */
const NEVER = Number.POSITIVE_INFINITY;

const LABELS = /** @type {const} */ (['device', 'name', 'type', 'unit', 'site']);

/** @param {LiveItem} a @param {LiveItem} b */
const sameLabels = (a, b) => LABELS.every((label) => a[label] === b[label]);

/**
 * The newest values of what a channel follows, each with the position of its last change: changes are counted, and
 * whoever was told all up to a position is owed what changed after it. So of each sensor only the newest is kept, and
 * nobody can fall so far behind that anything is missing.
 *
 * Of a lost change, readings of `latest` tell. What was committed before a reading began is in it; so it has the last
 * word on all that has not changed since, and only adds newer values to the rest.
 */
export function createKnown() {
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  /** @type {Set<Entry>} changed after `told` */
  let fresh = new Set();
  let position = 0;
  let told = 0;
  let reading = 0;

  /** @param {Entry} entry @param {number} committedAt */
  function changed(entry, committedAt) {
    entry.committedAt = committedAt;
    entry.position = ++position;
    fresh.add(entry);
    return true;
  }

  /** @param {string} key @param {LiveItem} item @param {number} committedAt */
  function meet(key, item, committedAt) {
    const entry = { item: { ...item }, position, reading, committedAt };
    entries.set(key, entry);
    return changed(entry, committedAt);
  }

  /** @param {Entry} entry @param {LiveItem} item @param {number} committedAt */
  function replace(entry, item, committedAt) {
    const { item: own } = entry;
    own.ts = item.ts;
    own.value = item.value;
    // The texts that are there already have grown old; new ones would be garbage to be moved.
    if (!sameLabels(own, item)) for (const label of LABELS) own[label] = item[label];
    return changed(entry, committedAt);
  }

  return {
    /**
     * @param {LiveItem} item that was published
     * @param {number} committedAt ms of `performance.now()`
     * @returns {boolean} whether it is news
     */
    hear(item, committedAt) {
      const key = keyOf(item);
      const entry = entries.get(key);
      if (!entry) return meet(key, item, committedAt);
      return isNewer(item, entry.item) && replace(entry, item, committedAt);
    },

    /** Begins a reading of all that is followed. */
    begin: () => ++reading,

    /**
     * @param {LiveItem} item as `latest` has it
     * @param {number} since the position when reading it began
     * @returns {boolean} whether it is news
     */
    read(item, since) {
      const key = keyOf(item);
      const entry = entries.get(key);
      if (!entry) return meet(key, item, NEVER);
      entry.reading = reading;
      const { item: own } = entry;
      if (entry.position > since) return isNewer(item, own) && replace(entry, item, NEVER);
      return (
        (item.ts !== own.ts || item.value !== own.value || !sameLabels(item, own)) &&
        replace(entry, item, NEVER)
      );
    },

    /** Ends a reading of all that is followed: what it has not met, and is not newer than it, is gone. @param {number} since the position when it began */
    end(since) {
      for (const [key, entry] of entries) {
        if (entry.reading < reading && entry.position <= since) entries.delete(key);
      }
    },

    /** @param {number} after a position @returns {Entry[]} what changed after it */
    since: (after) =>
      [...(after >= told ? fresh : entries.values())].filter((entry) => entry.position > after),

    all: () => [...entries.values()],

    /** All changes until now have been told. */
    settle() {
      told = position;
      fresh = new Set();
    },

    /** @returns {number} how many changes there were */
    get position() {
      return position;
    },
  };
}

/** @typedef {ReturnType<typeof createKnown>} Known */

/** @param {LiveItem} item */
const keyOf = ({ device_id, sensor_id }) => `${device_id}/${sensor_id}`;

/** Of two values of one instant the database keeps one, which the next reading tells. @param {LiveItem} item @param {LiveItem} known */
const isNewer = (item, known) => item.ts !== null && (known.ts === null || item.ts > known.ts);

/** A reading that failed is tried again after this long, in ms, or after the usual time where that is shorter. */
const AGAIN_MS = 5000;

/**
 * Reads what a channel follows: once when it opens, then again and again, page by page and spread over the time, and at
 * once after live changes may have been missed.
 *
 * @param {object} parts
 * @param {() => AsyncIterator<LatestRow[]>} parts.pages reads the first again, then those after it
 * @param {(read: () => Promise<LatestRow[] | null>) => Promise<boolean>} parts.take has one page read, and takes it in;
 *   false: there is no more
 * @param {() => void} parts.begin told before a reading
 * @param {() => void} parts.end told after a whole one
 * @param {number} parts.everyMs
 * @param {Logger} parts.logger
 */
export function createReadings({ pages, take, begin, end, everyMs, logger }) {
  let stopped = false;
  let urgent = false;
  let count = 1;
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

  /** @param {number} pauseMs before each page @returns {Promise<void>} settles when all is read, or something is more urgent */
  async function readAll(pauseMs) {
    const iterator = pages();
    const read = async () => {
      const { done, value } = await iterator.next();
      return done ? null : value;
    };
    begin();
    for (let pagesRead = 0; ; pagesRead++) {
      if (pauseMs > 0) await pause(pauseMs);
      if (stopped || urgent) return;
      if (!(await take(read))) {
        count = Math.max(1, pagesRead);
        return end();
      }
    }
  }

  async function keepReading() {
    while (!stopped) {
      // One pause more than pages: the last is before the end is found.
      const pauseMs = urgent ? 0 : everyMs / (count + 1);
      urgent = false;
      try {
        await readAll(pauseMs);
      } catch (error) {
        logger.warn({ reason: String(error) }, 'what is followed live could not be read again');
        if (!stopped) await pause(Math.min(AGAIN_MS, everyMs));
        urgent = true;
      }
    }
  }

  return {
    /** @returns {Promise<void>} settles when all is read once; fails when it cannot be */
    async start() {
      do {
        urgent = false;
        await readAll(0);
      } while (urgent && !stopped);
      void keepReading();
    },

    /** Now, all of it. */
    hurry() {
      urgent = true;
      wake();
    },

    stop() {
      stopped = true;
      wake();
    },
  };
}
