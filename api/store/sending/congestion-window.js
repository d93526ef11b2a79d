import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../../common/errors.js';
import { Queue } from '../../../common/queue.js';

/**
 * The window changes after this time, in ms, and after this number of answers. The window never changes twice
 * within the time of one request, because the requests that were sent since the last change must be answered
 * first.
 */
const TICK_MS = 100;
const MIN_ANSWERS = 8;

/** Least size of the window. Fewer requests in flight show nothing about the database, and hardly load it. */
const MIN_SIZE = 4;

/** The window of a new process. It grows within seconds. */
const FIRST_SIZE = 32;

/**
 * A request may take this many times as long as with few requests in flight, and in any case this many ms longer.
 * Below this limit throughput still grows, because client and server wake up once for many requests. Measured
 * on two cores with one sample per message, ingest takes 74 µs of CPU with 16 requests in flight, 65 µs with
 * 64, 57 µs with 256, and 50 µs with 512. Above this limit requests only wait in the database instead of in
 * this process.
 */
const TOLERANCE = 8;
const SLACK_MS = 8;

/**
 * Factors of the window per tick. It grows by a tenth plus one, or shrinks to seven tenths. So it returns
 * from 4 to 64 within 2 s.
 */
const GROWTH = 1.1;
const DECLINE = 0.7;
const AFTER_FAILURES = 0.5;

/**
 * Share of failures above which the window shrinks. A smaller share comes from a few partitions, and requests
 * to the others should not suffer.
 */
const FAILURE_SHARE = 0.1;

/**
 * Interval in ms between two probes under load. In a probe the window becomes small, to measure the unloaded
 * latency. A new process under load has no measurement yet, so its first probes come sooner.
 */
const PROBE_EVERY_MS = 10_000;
const FIRST_PROBES_EVERY_MS = 1000;
const FIRST_PROBES = 3;

/**
 * A probe ends after this many answers, or after this time, in ms, with at least `MIN_ANSWERS`. Its time
 * begins when the earlier requests are answered, because in a busy database these take longer than the whole
 * probe.
 */
const PROBE_ANSWERS = 32;
const PROBE_MS = 300;

/**
 * Number of unloaded latencies that are kept, from probes or calm times. A disturbance shorter than half of
 * them never counts as normal.
 */
const PROBES_KEPT = 7;

/**
 * @typedef {{ since: number, began: number, answers: number[] }} Probe `began`: when its first request was
 *   sent
 */

/**
 * Bounds the requests in flight by the latency of the database, like congestion control in a network. Two sources:
 * - BBR (Cardwell et al., ACM Queue 14(5), 2016) keeps the pipe nearly empty from time to time, to measure the unloaded latency.
 * - Netflix' concurrency-limits multiplies the window by the gradient: the wanted latency divided by the measured one.
 *
 *     latency |                      . '        in flight up to the knee: throughput grows, latency hardly;
 *             |                  . '            beyond it only latency grows. The window stays where the
 *             |  ______________-'               median is TOLERANCE times the unloaded one.
 *             +----------------|-------- in flight
 */
export class CongestionWindow {
  #max;
  #min;
  #now;
  #size;
  /** Duration of each request since the last tick, in ms. @type {number[]} */
  #answers = [];
  #failures = 0;
  #isLimiting = false;
  #tickedAt;
  #latency = 0;
  /** @type {Probe | null} */
  #probe = null;
  #probedAt;
  /** Unloaded latencies in ms, the newest last. @type {number[]} */
  #unloaded = [];
  #calmest = Number.POSITIVE_INFINITY;

  /** @param {{ max: number, now?: () => number }} options `max`: `INGEST_MAX_IN_FLIGHT`; `now`: ms of a monotonic clock */
  constructor({ max, now = () => performance.now() }) {
    this.#max = max;
    this.#min = Math.min(MIN_SIZE, max);
    this.#size = Math.min(FIRST_SIZE, max);
    this.#now = now;
    this.#tickedAt = now();
    this.#probedAt = this.#tickedAt;
  }

  /** Requests that may be in flight now. */
  get size() {
    return this.#probe ? this.#min : Math.floor(this.#size);
  }

  /** Notes that a request waits because the window is full. */
  noteWaiting() {
    this.#isLimiting = true;
  }

  /**
   * @param {number} began when the request was sent
   * @param {boolean} failed the database did not answer, or was overloaded
   */
  record(began, failed) {
    const now = this.#now();
    if (this.#probe && !failed) return this.#recordProbed(this.#probe, began, now);
    if (this.#probe) {
      // A failed request shows no latency, so the next probe has to measure it.
      this.#probe = null;
      this.#probedAt = now;
    }
    if (failed) this.#failures++;
    else this.#answers.push(now - began);
    if (now - this.#tickedAt >= Math.max(TICK_MS, this.#latency)) this.#tick(now);
  }

  /** @param {number} now */
  #tick(now) {
    const count = this.#answers.length;
    if (this.#failures > FAILURE_SHARE * (count + this.#failures))
      this.#size = Math.max(this.#min, this.#size * AFTER_FAILURES);
    else if (count >= MIN_ANSWERS) this.#adapt(medianOf(this.#answers));
    else return;
    const interval = this.#unloaded.length < FIRST_PROBES ? FIRST_PROBES_EVERY_MS : PROBE_EVERY_MS;
    if (now - this.#probedAt >= interval) {
      if (this.#isLimiting) this.#probe = { since: now, began: Number.POSITIVE_INFINITY, answers: [] };
      else this.#remember(now, this.#calmest);
    }
    this.#beginTick(now);
  }

  /** @param {number} median ms of the answers since the last tick */
  #adapt(median) {
    this.#latency = median;
    this.#calmest = Math.min(this.#calmest, median);
    const gradient = this.#target() / median;
    if (gradient < 1) this.#size = Math.max(this.#min, this.#size * Math.max(DECLINE, gradient));
    // A window that is not used in full does not show the effect of a larger one.
    else if (this.#isLimiting) this.#size = Math.min(this.#max, this.#size * Math.min(GROWTH, gradient) + 1);
  }

  /** @returns {number} longest wanted duration of a request, in ms */
  #target() {
    const base = medianOf(this.#unloaded.length > 0 ? this.#unloaded : [this.#calmest]);
    return Math.max(base * TOLERANCE, base + SLACK_MS);
  }

  /** @param {number} now */
  #beginTick(now) {
    this.#answers = [];
    this.#failures = 0;
    this.#isLimiting = false;
    this.#tickedAt = now;
  }

  /** @param {Probe} probe @param {number} began @param {number} now */
  #recordProbed(probe, began, now) {
    if (began < probe.since) return;
    probe.began = Math.min(probe.began, began);
    probe.answers.push(now - began);
    const { length } = probe.answers;
    if (length < MIN_ANSWERS || (length < PROBE_ANSWERS && now - probe.began < PROBE_MS)) return;
    this.#probe = null;
    this.#remember(now, medianOf(probe.answers));
    this.#beginTick(now);
  }

  /** @param {number} now @param {number} ms an unloaded latency */
  #remember(now, ms) {
    this.#probedAt = now;
    this.#calmest = Number.POSITIVE_INFINITY;
    if (!Number.isFinite(ms)) return;
    this.#unloaded.push(ms);
    if (this.#unloaded.length > PROBES_KEPT) this.#unloaded.shift();
  }
}

/**
 * @param {number[]} numbers one or more, in any order
 * @returns {number} the median; of two middle numbers the greater one
 */
export const medianOf = (numbers) =>
  /** @type {number} */ (Float64Array.from(numbers).sort()[numbers.length >> 1]);

/**
 * Bounds the requests in flight. `size` is read for each request.
 *
 * @typedef {object} Bound
 * @property {number} size
 * @property {() => void} [noteWaiting] called when a request has to wait
 * @property {(began: number, failed: boolean) => void} [record] called when a request was answered; `began`
 *   in ms of `performance.now()`
 */

/**
 * The semaphore of requests to the database. A permit belongs to one request, from its sending to its answer,
 * and every path returns the permit. A waiting request has no permit. So every message makes progress, even
 * with a bound of 1 and many requests per message.
 */
export class Permits {
  #bound;
  #inUse = 0;
  /** @type {Queue<() => void>} */
  #waiting = new Queue();

  /** @param {Bound} bound */
  constructor(bound) {
    this.#bound = bound;
  }

  /** Acquires a permit. @returns {Promise<void> | undefined} settles when the request may be sent; undefined: at once */
  enter() {
    if (this.#inUse < this.#bound.size && this.#waiting.size === 0) {
      this.#inUse++;
      return undefined;
    }
    this.#bound.noteWaiting?.();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Returns the permit, once per `enter`.
   *
   * @param {number} began when the request was sent, in ms of `performance.now()`
   * @param {unknown} [error] that the request failed with
   */
  leave(began, error) {
    this.#inUse--;
    this.#bound.record?.(began, isFailure(error));
    this.admit();
  }

  /** Returns a permit without a request. No latency was measured, so nothing is recorded. */
  cancel() {
    this.#inUse--;
    this.admit();
  }

  /** Called after every answer. Several requests are admitted when the bound has grown. */
  admit() {
    while (this.#inUse < this.#bound.size) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#inUse++;
      next();
    }
  }

  /** Number of running requests. */
  get inUse() {
    return this.#inUse;
  }

  /** Number of requests that wait for a permit. */
  get waiting() {
    return this.#waiting.size;
  }
}

/** A refusal is a normal answer, so it does not show a busy database. @param {unknown} error */
const isFailure = (error) => error instanceof MillraceError && error.code === 'unavailable';
