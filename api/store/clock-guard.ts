import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { MillraceError } from '../../common/errors.ts';
import { LogThrottle } from '../../common/log-throttle.ts';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.ts';

/** Pause in ms between two comparisons with the database's clock. */
const PERIODS_MS = { trusted: 10_000, distrusted: 1000 };

const REPORT_EVERY_MS = 10_000;

/**
 * Guards against clock skew. Each process decides by its own clock which hours are complete and can be
 * packed. While the local clock differs from the database's by more than MOST_CLOCK_DIFFERENCE_MS, `now()`
 * waits. So nothing is acknowledged or packed until the clock is set.
 */
export class ClockGuard {
  #clock;
  #difference;
  #logger;
  #monotonic;
  #periods;
  #timer: NodeJS.Timeout | undefined;
  #throttle;
  #stopped = false;
  #trusted = false;
  #differenceMs = Number.NaN;
  /** Local minus monotonic clock at the last comparison, in ms. If the difference changes, the clock was set. */
  #offset = 0;
  #waiting: Array<{ resolve: (now: number) => void; reject: (error: Error) => void }> = [];
  #comparing: Promise<void> | null = null;

  constructor(deps: {
    /** epoch ms */
    clock: () => number;
    /** measures how far the local clock is ahead of the database's, in ms */
    difference: () => Promise<number>;
    logger: Logger;
    /** ms of a monotonic clock */
    monotonic?: () => number;
    periods?: typeof PERIODS_MS;
  }) {
    const { clock, difference, logger, monotonic = () => performance.now(), periods = PERIODS_MS } = deps;
    this.#clock = clock;
    this.#difference = difference;
    this.#logger = logger;
    this.#monotonic = monotonic;
    this.#periods = periods;
    this.#throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS, clock: monotonic });
  }

  async start() {
    await this.#compareOnce();
    this.#compareLater();
  }

  /**
   * Synchronous while the clock is trusted, because every message calls it.
   * @throws `unavailable` when the process ends before the clock is set
   */
  now(): number | Promise<number> {
    const now = this.#clock();
    if (this.#trusted && !this.#hasJumped(now)) return now;
    if (this.#stopped) return Promise.reject(ended());
    if (this.#trusted) {
      this.#trusted = false;
      void this.#compareOnce().then(() => this.#compareLater());
    }
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Local minus database clock at the last comparison, in ms; NaN before the first one. */
  get differenceMs() {
    return this.#differenceMs;
  }

  get isTrusted() {
    return this.#trusted && !this.#hasJumped();
  }

  /** Rejects all callers that wait, and all later calls that would have to wait. */
  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const rejected = this.#waiting;
    this.#waiting = [];
    for (const { reject } of rejected) reject(ended());
  }

  #judge(ms: number) {
    const was = this.#trusted;
    this.#differenceMs = ms;
    this.#trusted = Math.abs(ms) <= MOST_CLOCK_DIFFERENCE_MS;
    this.#offset = this.#clock() - this.#monotonic();
    if (!this.#trusted) return this.#report(ms);
    if (!was && this.#waiting.length > 0) this.#logger.info("our clock is the database's again");
    const served = this.#waiting;
    this.#waiting = [];
    for (const { resolve } of served) resolve(this.#clock());
  }

  #report(ms: number) {
    if (this.#throttle.count('skew') === 0) return;
    const seconds = Math.round(ms / 1000);
    this.#logger.error(
      { seconds },
      "our clock is not the database's: nothing is acknowledged until it is set",
    );
  }

  async #compare() {
    try {
      const ms = await this.#difference();
      if (!this.#stopped) this.#judge(ms);
    } catch (error) {
      // The last result stays in use. While the database is unavailable, no message can be acknowledged anyway.
      this.#logger.debug({ reason: String(error) }, "our clock could not be held against the database's");
    }
  }

  #compareLater() {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const pause = this.#trusted ? this.#periods.trusted : this.#periods.distrusted;
    this.#timer = setTimeout(() => void this.#compareOnce().then(() => this.#compareLater()), pause).unref();
  }

  #compareOnce() {
    this.#comparing ??= this.#compare().finally(() => {
      this.#comparing = null;
    });
    return this.#comparing;
  }

  #hasJumped(now: number = this.#clock()): boolean {
    return Math.abs(now - this.#monotonic() - this.#offset) > MOST_CLOCK_DIFFERENCE_MS;
  }
}

const ended = () =>
  new MillraceError('unavailable', "this process ends before its clock was set to the database's");
