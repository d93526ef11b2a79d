import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { HOUR_MS } from '../../../schema/rules.js';

/** @import { Page as HistoryPage } from '../../store/history/unpacked.js' */
/** @import { Retry } from '../../store/sending/retry.js' */

/** While ingest waits: this share of its speed for each hour that packing is behind, and at most half of it. */
const SHARE_AN_HOUR = 0.1;
const MOST_SHARE = 0.5;

/** No rest is longer, in ms: what made ingest wait may be over by then. */
const LONGEST_REST_MS = 2000;

/** Waits between two steps. @callback Rest @param {number} ms @param {AbortSignal} signal ends it @returns {Promise<unknown>} */

/**
 * Packing goes step by step: a step is one request, with what is computed for it. It is repeated until the database takes it.
 *
 * Packing takes no place in the window from ingest; it gives way by resting. While requests of ingest wait for a place, each
 * step is followed by a rest, so that packing keeps a tenth of its speed, and a tenth more for each hour that it is behind:
 * it never starves, and what is behind for long gets half.
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
   * @param {Retry} deps.retry its own: it ends with packing
   * @param {() => boolean} deps.isPressed whether requests of ingest wait for a place
   * @param {() => number} deps.overdueMs how long the oldest hour that is not packed could have been
   * @param {Rest | undefined} [deps.rest]
   * @param {() => number} [deps.monotonic] ms of a clock that nobody sets
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

  /** No step is begun any more, and none is repeated. */
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

/** @param {number} overdueMs @returns {number} of its full speed */
export const shareOf = (overdueMs) =>
  Math.min(MOST_SHARE, SHARE_AN_HOUR * (1 + Math.max(0, overdueMs) / HOUR_MS));

/** @template T @typedef {HistoryPage<T>} Page */

/**
 * Everything that comes in pages, a page in memory at a time.
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
