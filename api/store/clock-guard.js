import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../common/errors.js';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.js';

/** @import { Logger } from 'pino' */

/** How often our clock is held against the database's, in ms; and how often while it is not to be relied on. */
const PERIODS_MS = { trusted: 10_000, distrusted: 1000 };

const REPORT_EVERY_MS = 10_000;

/**
 * A clock that may be relied on by what other processes pack: at most MOST_CLOCK_DIFFERENCE_MS off the database's. While it
 * is farther off, whoever asks for the time waits: so nothing is acknowledged, and nothing packed, until somebody has set it.
 *
 * @param {object} parts
 * @param {() => number} parts.clock epoch ms
 * @param {() => Promise<number>} parts.difference how far it is ahead of the database's, in ms
 * @param {Logger} parts.logger
 * @param {() => number} [parts.monotonic] ms of a clock that nobody sets
 * @param {typeof PERIODS_MS} [parts.periods]
 */
export function createClockGuard(parts) {
  const { clock, difference, logger, monotonic = () => performance.now(), periods = PERIODS_MS } = parts;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let trusted = false;
  let differenceMs = Number.NaN;
  /** What our clock was ahead of the monotonic one when they were last compared with the database's. */
  let offset = 0;
  /** Those who wait for the time. @type {Array<{ resolve: (now: number) => void, reject: (error: Error) => void }>} */
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
    const now = monotonic();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    const seconds = Math.round(ms / 1000);
    logger.error({ seconds }, "our clock is not the database's: nothing is acknowledged until it is set");
  }

  async function compare() {
    try {
      const ms = await difference();
      if (!stopped) judge(ms);
    } catch (error) {
      // A database that is away says nothing of clocks, and takes nothing that could be acknowledged either.
      logger.debug({ reason: String(error) }, "our clock could not be held against the database's");
    }
  }

  function compareLater() {
    if (stopped) return;
    const pause = trusted ? periods.trusted : periods.distrusted;
    timer = setTimeout(() => void compareOnce().then(compareLater), pause).unref();
  }

  /** One comparison at a time, however many ask for one. */
  function compareOnce() {
    comparing ??= compare().finally(() => {
      comparing = null;
    });
    return comparing;
  }

  /** Somebody has set our clock since it was last compared. */
  const hasJumped = () => Math.abs(clock() - monotonic() - offset) > MOST_CLOCK_DIFFERENCE_MS;

  return {
    /** Compares for the first time, and from then on every now and then. */
    async start() {
      await compareOnce();
      compareLater();
    },

    /**
     * The time, at once where it can be relied on; this stands on the way of every message.
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

    /** How far our clock was ahead of the database's when they were last compared, in ms; NaN: never yet. */
    get differenceMs() {
      return differenceMs;
    },

    get isTrusted() {
      return trusted && !hasJumped();
    },

    /** From now on nobody waits any more. */
    stop() {
      stopped = true;
      clearTimeout(timer);
      const given = waiting;
      waiting = [];
      for (const { reject } of given) reject(ended());
    },
  };
}

/** @typedef {ReturnType<typeof createClockGuard>} ClockGuard */

const ended = () =>
  new MillraceError('unavailable', "this process ends before its clock was set to the database's");
