import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Check } from '../../observability/readiness.js' */

/** `untilSettled` checks for unsettled messages this often, in ms. */
const POLL_MS = 20;

/**
 * Tracks the unsettled messages of the process. The health check reports how long the oldest waits, and an orderly stop waits for all.
 */
export class Progress {
  #answeredAt;
  #clock;
  /** Arrival of each unsettled message, the oldest first. @type {Map<object, number>} */
  #unsettled = new Map();
  #settledAt = Number.NEGATIVE_INFINITY;

  /**
   * @param {object} deps
   * @param {() => number} deps.answeredAt when the database last answered, in ms of the same clock
   * @param {() => number} [deps.clock] ms of a monotonic clock
   */
  constructor({ answeredAt, clock = () => performance.now() }) {
    this.#answeredAt = answeredAt;
    this.#clock = clock;
  }

  /** Counts a message as unsettled. @param {object} message that arrived */
  begin(message) {
    this.#unsettled.set(message, this.#clock());
  }

  /** Removes a message. @param {object} message @param {boolean} isSettled false: it stays unacknowledged, or its topic is unknown */
  end(message, isSettled) {
    this.#unsettled.delete(message);
    if (isSettled) this.#settledAt = this.#clock();
  }

  /** Number of unsettled messages. */
  get unsettled() {
    return this.#unsettled.size;
  }

  /** Age of the oldest unsettled message in ms; 0: no message waits. */
  get oldestMs() {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined ? 0 : this.#clock() - oldest;
  }

  /**
   * Some messages need no database, such as an empty one. So progress needs both a settled message and an answer of the database.
   *
   * @returns {number} ms since both happened, while a message waits; 0: no message waits
   */
  get standstillMs() {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined
      ? 0
      : this.#clock() - Math.max(oldest, Math.min(this.#settledAt, this.#answeredAt()));
  }

  /**
   * Waits until no message is unsettled.
   *
   * @param {object} bounds
   * @param {number} bounds.withinMs
   * @param {() => boolean} [bounds.isHopeless] ends the wait early
   * @returns {Promise<void>} settles when every message is settled, or at one of the bounds
   */
  async untilSettled({ withinMs, isHopeless = () => false }) {
    const deadline = this.#clock() + withinMs;
    while (this.#unsettled.size > 0 && this.#clock() < deadline && !isHopeless()) await sleep(POLL_MS);
  }

  /**
   * The readiness check of ingest.
   *
   * @param {number} maxWaitMs the check fails when a message waits for longer
   * @returns {Check}
   */
  check(maxWaitMs) {
    const waited = Math.round(this.oldestMs);
    return {
      ok: waited <= maxWaitMs,
      message:
        this.#unsettled.size === 0
          ? 'none wait'
          : `${this.#unsettled.size} wait, the oldest for ${waited} ms`,
    };
  }
}
