import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../common/errors.js';
import { LogThrottle } from '../../common/log-throttle.js';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.js';

/** @import { Logger } from 'pino' */

/** How often the local clock is compared with the database's, in ms. */
const PERIODS_MS = { trusted: 10_000, distrusted: 1000 };

const REPORT_EVERY_MS = 10_000;

/**
 * Guards against clock skew. Other processes pack hours by their clocks, so each clock may differ from the database's by at most
 * MOST_CLOCK_DIFFERENCE_MS. While the local clock differs by more, `now()` waits: nothing is acknowledged or packed until somebody
 * sets the clock.
 *
 * @param {object} deps
 * @param {() => number} deps.clock epoch ms
 * @param {() => Promise<number>} deps.difference how far the clock is ahead of the database's, in ms
 * @param {Logger} deps.logger
 * @param {() => number} [deps.monotonic] ms of a clock that nobody sets
 * @param {typeof PERIODS_MS} [deps.periods]
 */
export function createClockGuard(deps) {
  const { clock, difference, logger, monotonic = () => performance.now(), periods = PERIODS_MS } = deps;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS, clock: monotonic });
  let stopped = false;
  let trusted = false;
  let differenceMs = Number.NaN;
  /** How far the clock was ahead of the monotonic one at the last comparison, in ms. */
  let offset = 0;
  /** Callers that wait for the time. @type {Array<{ resolve: (now: number) => void, reject: (error: Error) => void }>} */
  let waiting = [];
  /** @type {Promise<void> | null} */
  let comparing = null;

  /** @param {number} ms that our clock is ahead of the database's */
  function judge(ms) {
    const was = trusted;
    differenceMs = ms;
    trusted = Math.abs(ms) <= MOST_CLOCK_DIFFERENCE_MS;
    offset = clock() - monotonic();
    if (!trusted) return report(ms);
    if (!was && waiting.length > 0) logger.info("our clock is the database's again");
    const served = waiting;
    waiting = [];
    for (const { resolve } of served) resolve(clock());
  }

  /** @param {number} ms */
  function report(ms) {
    if (throttle.count('skew') === 0) return;
    const seconds = Math.round(ms / 1000);
    logger.error({ seconds }, "our clock is not the database's: nothing is acknowledged until it is set");
  }

  async function compare() {
    try {
      const ms = await difference();
      if (!stopped) judge(ms);
    } catch (error) {
      // No message can be acknowledged while the database is unavailable, so the last result may stand.
      logger.debug({ reason: String(error) }, "our clock could not be held against the database's");
    }
  }

  function compareLater() {
    if (stopped) return;
    const pause = trusted ? periods.trusted : periods.distrusted;
    timer = setTimeout(() => void compareOnce().then(compareLater), pause).unref();
  }

  /** Concurrent callers share one comparison. */
  function compareOnce() {
    comparing ??= compare().finally(() => {
      comparing = null;
    });
    return comparing;
  }

  /** True after somebody has set the clock since the last comparison. */
  const hasJumped = () => Math.abs(clock() - monotonic() - offset) > MOST_CLOCK_DIFFERENCE_MS;

  return {
    /** Compares once, then periodically. */
    async start() {
      await compareOnce();
      compareLater();
    },

    /**
     * Returns the time, synchronously while the clock is trusted. Every message calls it.
     *
     * @returns {number | Promise<number>} epoch ms
     * @throws {MillraceError} `unavailable` when the process ends before the clock is set
     */
    now() {
      if (trusted && !hasJumped()) return clock();
      if (stopped) return Promise.reject(ended());
      if (trusted) {
        trusted = false;
        void compareOnce();
      }
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },

    /** How far the clock was ahead of the database's at the last comparison, in ms; NaN before the first. */
    get differenceMs() {
      return differenceMs;
    },

    get isTrusted() {
      return trusted && !hasJumped();
    },

    /** Rejects all waiting callers, and all later ones. */
    stop() {
      stopped = true;
      clearTimeout(timer);
      const rejected = waiting;
      waiting = [];
      for (const { reject } of rejected) reject(ended());
    },
  };
}

/** @typedef {ReturnType<typeof createClockGuard>} ClockGuard */

const ended = () =>
  new MillraceError('unavailable', "this process ends before its clock was set to the database's");
