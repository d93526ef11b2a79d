import { createQueue } from './queue.js';

/**
 * Bounds how many requests to the database are in flight. A permit belongs to one request, from sending to answer,
 * and is given back on every path; whoever waits for one holds none, so any message, however many requests it needs,
 * gets through even with a bound of 1.
 *
 * @param {number} most
 */
export function createPermits(most) {
  let inUse = 0;
  /** @type {ReturnType<typeof createQueue<() => void>>} */
  const waiting = createQueue();

  return {
    /**
     * @template T
     * @param {() => Promise<T>} request
     * @returns {Promise<T>}
     */
    async run(request) {
      if (inUse < most) inUse++;
      // A permit that is given back goes straight to the first in line, so `inUse` stays as it is.
      else await new Promise((resolve) => waiting.push(() => resolve(undefined)));
      try {
        return await request();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else inUse--;
      }
    },
    get inUse() {
      return inUse;
    },
    get waiting() {
      return waiting.size;
    },
  };
}

/** @typedef {ReturnType<typeof createPermits>} Permits */
