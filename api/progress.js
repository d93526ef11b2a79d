import { performance } from 'node:perf_hooks';

/** A message that is unsettled for longer than this is a sign of trouble, in ms. */
const MOST_WAIT_MS = 30_000;

/**
 * Whether acknowledgements go on: how long the oldest message waits to be settled.
 *
 * @param {{ clock?: () => number }} [parts] ms of a clock that nobody sets
 */
export function createProgress({ clock = () => performance.now() } = {}) {
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

    /** @returns {import('./readiness.js').Check} */
    check() {
      const [oldest] = unsettled.values();
      const waited = oldest === undefined ? 0 : Math.round(clock() - oldest);
      return {
        ok: waited <= MOST_WAIT_MS,
        says: unsettled.size === 0 ? 'none wait' : `${unsettled.size} wait, the oldest for ${waited} ms`,
      };
    },
  };
}

/** @typedef {ReturnType<typeof createProgress>} Progress */
