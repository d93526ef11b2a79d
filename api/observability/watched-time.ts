import { DAY_MS, dayOf } from '../../schema/rules.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { WatchedSpan, WatchedTimeStore } from '../store/watched-time.js' */
/** @import { Context } from './index.js' */

/**
 * Limit of a gap between two heartbeats, in heartbeat intervals. A longer gap counts as time in which the process did not watch.
 * Within the limit one heartbeat may be missed and the next heartbeat may be late, or the process may restart.
 */
const LONGEST_BREAK_BEATS = 2.5;

/** Limit of spans in an answer; the shortest spans are left out. */
export const MAX_UNWATCHED_SPANS = 1000;

/** @param {number} heartbeatMs */
const longestBreak = (heartbeatMs) => LONGEST_BREAK_BEATS * heartbeatMs;

/**
 * Records when this process watches: it receives messages of devices and the broker, and can store them. The stored span ends at
 * the last heartbeat that was written while the process watched. So the span is right even if the process is killed, or the
 * database is unavailable.
 */
export class WatchedTime {
  #store;
  #watches;
  #breakMs;
  /** The last span that was written. @type {WatchedSpan | null} */
  #span = null;

  /**
   * @param {object} deps
   * @param {Pick<WatchedTimeStore, 'write'>} deps.store
   * @param {() => boolean} deps.watches
   * @param {number} deps.everyMs interval of the heartbeat
   */
  constructor({ store, watches, everyMs }) {
    this.#store = store;
    this.#watches = watches;
    this.#breakMs = longestBreak(everyMs);
  }

  /**
   * Extends the span to now. After a break it begins a new span. The wall clock measures the break, because a monotonic clock
   * stops while the machine sleeps. So a step of the clock also begins a new span.
   *
   * @param {string} clientId client id or name of this process
   * @param {number} now epoch ms of the heartbeat
   * @returns {Promise<void>} resolves after the commit
   * @throws {MillraceError} `unavailable`: the span ends at the last written heartbeat
   */
  async extend(clientId, now) {
    if (!this.#watches()) return;
    const last = this.#span;
    const isContinued = last !== null && now >= last.until && now - last.until <= this.#breakMs;
    let from = isContinued ? last.from : now;
    for (let midnight = dayOf(from) + DAY_MS; midnight <= now; midnight += DAY_MS) {
      await this.#store.write(clientId, { from, until: midnight });
      from = midnight;
    }
    const span = { from, until: now };
    await this.#store.write(clientId, span);
    this.#span = span;
  }
}

/** Time in which no process watched, in epoch ms. @typedef {{ from: number, to: number }} UnwatchedSpan */

/**
 * The time in a range in which no process watched.
 *
 * @typedef {object} UnwatchedAnswer
 * @property {number | null} since epoch ms from which the installation has recorded its watched time; null: recording has not
 *   begun
 * @property {UnwatchedSpan[]} spans oldest first
 * @property {number} leftOutMs length in ms; spans up to this length may be missing
 */

/** Finds the time in which no process watched. */
export class UnwatchedTime {
  #clock;
  #store;
  #historyMs;
  #breakMs;
  /** Start of the recorded watched time, in epoch ms. Once known, it never changes. @type {number | null} */
  #since = null;

  /**
   * @param {Pick<Context, 'clock' | 'config'>} context
   * @param {object} deps
   * @param {Pick<WatchedTimeStore, 'pages' | 'first'>} deps.store
   * @param {number} deps.everyMs interval of the heartbeat
   */
  constructor({ clock, config }, { store, everyMs }) {
    this.#clock = clock;
    this.#store = store;
    this.#historyMs = config.retention.historyDays * DAY_MS;
    this.#breakMs = longestBreak(everyMs);
  }

  /**
   * Finds the time in a range in which no process watched.
   *
   * @param {{ from: number, to: number }} range epoch ms, half-open
   * @returns {Promise<UnwatchedAnswer>}
   * @throws {MillraceError} `unavailable`
   */
  async read({ from, to }) {
    const now = this.#clock();
    this.#since ??= await this.#store.first({ from: now - this.#historyMs, to: now });
    /** @type {UnwatchedSpan[]} */
    const spans = [];
    // Nothing is known about the time before the record began, so leave it out.
    const begin = Math.max(from - this.#breakMs, this.#since ?? now);
    const end = Math.min(to + this.#breakMs, now);
    let covered = begin;

    // Read the range with a margin on both sides. So a break at an edge of the range is judged by its full length.
    const note = (/** @type {number} */ until) => {
      if (until - covered <= this.#breakMs) return;
      const span = { from: Math.max(covered, from), to: Math.min(until, to) };
      if (span.from < span.to) spans.push(span);
    };
    for await (const page of begin < end ? this.#store.pages({ from: begin, to: end }) : []) {
      for (const span of page) {
        note(span.from);
        covered = Math.max(covered, span.until);
      }
    }
    note(end);
    return { since: this.#since, ...longestOf(spans, this.#breakMs) };
  }
}

/**
 * Limits the number of spans in an answer: the shortest spans are left out. A span that is left out is shorter than a thousandth
 * of the range, which no chart can show.
 *
 * @param {UnwatchedSpan[]} spans oldest first
 * @param {number} leftOutMs length in ms up to which spans were left out before
 */
function longestOf(spans, leftOutMs) {
  if (spans.length <= MAX_UNWATCHED_SPANS) return { spans, leftOutMs };
  const byLength = spans.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const [longestLeftOut] = byLength.splice(MAX_UNWATCHED_SPANS);
  return {
    spans: byLength.sort((a, b) => a.from - b.from),
    leftOutMs: Math.max(leftOutMs, longestLeftOut ? lengthOf(longestLeftOut) : 0),
  };
}

/** @param {UnwatchedSpan} span */
const lengthOf = ({ from, to }) => to - from;
