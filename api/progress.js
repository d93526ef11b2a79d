import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often whoever waits for the last message looks again, in ms. */
const LOOK_EVERY_MS = 20;

/**
 * What is unsettled: whether acknowledgements go on, by how long the oldest message waits, and what an orderly end
 * has to wait for.
 *
 * @param {object} [parts]
 * @param {number} [parts.mostWaitMs] a message that is unsettled for longer is a sign of trouble
 * @param {() => number} [parts.clock] ms of a clock that nobody sets
 */
export function createProgress({
  mostWaitMs = Number.POSITIVE_INFINITY,
  clock = () => performance.now(),
} = {}) {
  /** When each unsettled message came, the oldest first. @type {Map<symbol, number>} */
  const unsettled = new Map();

  return {
    /**
     * @template M, R
     * @param {(message: M) => Promise<R>} accept
     * @returns {(message: M) => Promise<R>} does the same, and is watched
     */
    watch: (accept) => async (message) => {
      const key = Symbol('message');
      unsettled.set(key, clock());
      try {
        return await accept(message);
      } finally {
        unsettled.delete(key);
      }
    },

    /** @returns {number} messages that are being settled */
    get unsettled() {
      return unsettled.size;
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

    /** @returns {import('./readiness.js').Check} */
    check() {
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
