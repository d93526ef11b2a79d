import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Check } from '../observability/readiness.js' */

/**
 * The pending acknowledgements of one connection. They leave in the order in which the messages arrived (MQTT 3.1.1, 4.6.0-2;
 * MQTT 5, 4.6.0-2), even if a later message is committed first. A message that is never settled holds back all later ones.
 */
export function createAcknowledgements() {
  /** The oldest first. @type {Array<{ isSettled: boolean, acknowledge: () => void }>} */
  const pending = [];

  return {
    /**
     * @param {() => void} acknowledge called when this message and all earlier ones are settled
     * @returns {() => void} the caller calls it when this message is settled
     */
    track(acknowledge) {
      const message = { isSettled: false, acknowledge };
      pending.push(message);
      return () => {
        message.isSettled = true;
        while (pending[0]?.isSettled) pending.shift()?.acknowledge();
      };
    },
    /** Forgets all pending acknowledgements, because the connection closed. The sender sends these messages again. */
    drop() {
      pending.length = 0;
    },
    get pending() {
      return pending.length;
    },
  };
}

/** @typedef {ReturnType<typeof createAcknowledgements>} Acknowledgements */

/** `untilSettled` checks for unsettled messages this often, in ms. */
const POLL_MS = 20;

/**
 * Tracks the unsettled messages of the process. The health check reports how long the oldest waits, and an orderly stop waits for all.
 *
 * @param {object} deps
 * @param {() => number} deps.answeredAt when the database last answered, in ms of the same clock
 * @param {() => number} [deps.clock] ms of a monotonic clock
 */
export function createProgress({ answeredAt, clock = () => performance.now() }) {
  /** Arrival of each unsettled message, the oldest first. @type {Map<object, number>} */
  const unsettled = new Map();
  let settledAt = Number.NEGATIVE_INFINITY;

  return {
    /** @param {object} message that arrived */
    begin: (message) => void unsettled.set(message, clock()),

    /** @param {object} message @param {boolean} isSettled false: it stays unacknowledged, or its topic is unknown */
    end(message, isSettled) {
      unsettled.delete(message);
      if (isSettled) settledAt = clock();
    },

    /** Number of unsettled messages. */
    get unsettled() {
      return unsettled.size;
    },

    /**
     * Some messages need no database, such as an empty one. So progress needs both a settled message and an answer of the database.
     *
     * @returns {number} ms since both happened, while a message waits; 0: no message waits
     */
    get standstillMs() {
      const [oldest] = unsettled.values();
      return oldest === undefined ? 0 : clock() - Math.max(oldest, Math.min(settledAt, answeredAt()));
    },

    /**
     * @param {object} bounds
     * @param {number} bounds.withinMs
     * @param {() => boolean} [bounds.isHopeless] ends the wait early
     * @returns {Promise<void>} settles when every message is settled, or at one of the bounds
     */
    async untilSettled({ withinMs, isHopeless = () => false }) {
      const deadline = clock() + withinMs;
      while (unsettled.size > 0 && clock() < deadline && !isHopeless()) await sleep(POLL_MS);
    },

    /**
     * @param {number} maxWaitMs the check fails when a message waits for longer
     * @returns {Check}
     */
    check(maxWaitMs) {
      const [oldest] = unsettled.values();
      const waited = oldest === undefined ? 0 : Math.round(clock() - oldest);
      return {
        ok: waited <= maxWaitMs,
        message: unsettled.size === 0 ? 'none wait' : `${unsettled.size} wait, the oldest for ${waited} ms`,
      };
    },
  };
}

/** @typedef {ReturnType<typeof createProgress>} Progress */
