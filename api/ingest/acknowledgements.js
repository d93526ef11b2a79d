import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Check } from '../observability/readiness.js' */

/**
 * The acknowledgements that one connection is owed. They go out in the order in which the messages came (MQTT 3.1.1,
 * 4.6.0-2; MQTT 5, 4.6.0-2), however their commits overtake each other; one that is never given holds back all behind it.
 */
export function createAcknowledgements() {
  /** @type {Array<{ settled: boolean, acknowledge: () => void }>} oldest first */
  const owed = [];

  return {
    /**
     * @param {() => void} acknowledge called when this message and all before it are settled
     * @returns {() => void} to be called when this message is settled
     */
    owe(acknowledge) {
      const debt = { settled: false, acknowledge };
      owed.push(debt);
      return () => {
        debt.settled = true;
        while (owed[0]?.settled) owed.shift()?.acknowledge();
      };
    },
    /** The connection is gone, and with it what it was owed: the other side sends these messages again. */
    drop() {
      owed.length = 0;
    },
    get owed() {
      return owed.length;
    },
  };
}

/** @typedef {ReturnType<typeof createAcknowledgements>} Acknowledgements */

/** How often whoever waits for the last message looks again, in ms. */
const LOOK_EVERY_MS = 20;

/**
 * What is unsettled: whether acknowledgements go on, by how long the oldest message waits, and what an orderly end
 * has to wait for.
 *
 * @param {object} deps
 * @param {() => number} deps.answeredAt when the database last answered, ms of the same clock
 * @param {() => number} [deps.clock] ms of a clock that nobody sets
 */
export function createProgress({ answeredAt, clock = () => performance.now() }) {
  /** When each unsettled message came, the oldest first. @type {Map<object, number>} */
  const unsettled = new Map();
  let settledAt = Number.NEGATIVE_INFINITY;

  return {
    /** @param {object} message is being settled */
    begin: (message) => void unsettled.set(message, clock()),

    /** @param {object} message @param {boolean} isSettled false: it is given up, or was none of ours */
    end(message, isSettled) {
      unsettled.delete(message);
      if (isSettled) settledAt = clock();
    },

    /** @returns {number} messages that are being settled */
    get unsettled() {
      return unsettled.size;
    },

    /**
     * What needs no database, such as an empty message, is settled without it: neither that alone, nor its answers
     * alone, show that it goes on.
     *
     * @returns {number} ms since anything was settled and the database answered, while something waits for it; 0: nothing
     *   waits
     */
    get standstillMs() {
      const [oldest] = unsettled.values();
      return oldest === undefined ? 0 : clock() - Math.max(oldest, Math.min(settledAt, answeredAt()));
    },

    /**
     * @param {object} bounds
     * @param {number} bounds.withinMs
     * @param {() => boolean} [bounds.isHopeless] waiting on is of no use
     * @returns {Promise<void>} settles when every message is settled, or at the bounds
     */
    async untilSettled({ withinMs, isHopeless = () => false }) {
      const until = clock() + withinMs;
      while (unsettled.size > 0 && clock() < until && !isHopeless()) await sleep(LOOK_EVERY_MS);
    },

    /**
     * @param {number} mostWaitMs a message that is unsettled for longer is a sign of trouble
     * @returns {Check}
     */
    check(mostWaitMs) {
      const [oldest] = unsettled.values();
      const waited = oldest === undefined ? 0 : Math.round(clock() - oldest);
      return {
        ok: waited <= mostWaitMs,
        says: unsettled.size === 0 ? 'none wait' : `${unsettled.size} wait, the oldest for ${waited} ms`,
      };
    },
  };
}

/** @typedef {ReturnType<typeof createProgress>} Progress */
