import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { HOUR_MS } from '../../../schema/rules.js';

/** @import { Page as HistoryPage } from '../../store/history/unpacked.js' */
/** @import { Retry } from '../../store/sending/retry.js' */

/**
 * Share of its full speed that packing keeps for each hour that it is behind, while ingest waits. Half is the
 * limit.
 */
const SHARE_AN_HOUR = 0.1;
const MOST_SHARE = 0.5;

/** Longest rest in ms. The load that made ingest wait may be over by then. */
const LONGEST_REST_MS = 2000;

/** Waits between two steps. @callback Rest @param {number} ms @param {AbortSignal} signal ends it @returns {Promise<unknown>} */

/**
 * Runs the steps of packing. A step is one request, with the computation for it. A step is repeated until the
 * database accepts it.
 *
 * Packing takes no place in the congestion window from ingest. It gives way by resting: while requests of
 * ingest wait for a place, each step is followed by a rest, so that packing keeps a tenth of its speed, and a
 * tenth more for each hour that it is behind. So packing never starves, and gets half of its speed when it is
 * hours behind.
 */
export class Steps {
  #retry;
  #isPressed;
  #overdueMs;
  #rest;
  #monotonic;
  #ending = new AbortController();

  /**
   * @param {object} deps
   * @param {Retry} deps.retry only for packing, and stopped with it
   * @param {() => boolean} deps.isPressed whether requests of ingest wait for the congestion window
   * @param {() => number} deps.overdueMs time since the oldest unpacked hour became due
   * @param {Rest | undefined} [deps.rest]
   * @param {() => number} [deps.monotonic] ms of a monotonic clock
   */
  constructor(deps) {
    const { retry, isPressed, overdueMs, rest = sleepUnless, monotonic = () => performance.now() } = deps;
    this.#retry = retry;
    this.#isPressed = isPressed;
    this.#overdueMs = overdueMs;
    this.#rest = rest;
    this.#monotonic = monotonic;
  }

  /**
   * Runs a step, and rests after it while ingest is under pressure.
   *
   * @template T
   * @param {() => Promise<T>} step idempotent
   * @returns {Promise<T>}
   * @throws {MillraceError} `unavailable` when packing ends; `rejected`
   */
  async run(step) {
    if (this.#ending.signal.aborted) throw new MillraceError('unavailable', 'packing ends');
    const began = this.#monotonic();
    const answer = await this.#retry.run(step);
    await this.#giveWay(this.#monotonic() - began);
    return answer;
  }

  /** Stops: no further step begins, and no step is repeated. */
  stop() {
    this.#ending.abort();
    this.#retry.abort();
  }

  /** Whether packing ends. */
  get stopped() {
    return this.#ending.signal.aborted;
  }

  /** @param {number} workedMs */
  async #giveWay(workedMs) {
    if (!this.#isPressed()) return;
    await this.#rest(
      Math.min(LONGEST_REST_MS, workedMs * (1 / shareOf(this.#overdueMs()) - 1)),
      this.#ending.signal,
    );
  }
}

/** @param {number} ms @param {AbortSignal} signal ends it */
const sleepUnless = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {});

/** @param {number} overdueMs @returns {number} share of its full speed that packing keeps */
export const shareOf = (overdueMs) =>
  Math.min(MOST_SHARE, SHARE_AN_HOUR * (1 + Math.max(0, overdueMs) / HOUR_MS));

/** @template T @typedef {HistoryPage<T>} Page */

/**
 * Iterates over all items of a paged read, with one page in memory at a time.
 *
 * @template T
 * @param {(after: string | undefined) => Promise<Page<T>>} read
 * @returns {AsyncGenerator<T, void>}
 */
export async function* iteratePages(read) {
  /** @type {string | undefined} */
  let after;
  do {
    const { items, next } = await read(after);
    yield* items;
    after = next;
  } while (after);
}
