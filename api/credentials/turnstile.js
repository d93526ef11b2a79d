import { Queue } from '../ingest/backpressure/queue.js';

/**
 * Lets a bounded number do something at once; the others wait in order.
 *
 * @param {number} most
 */
export function createTurnstile(most) {
  /** @type {Queue<() => void>} */
  const waiting = new Queue();
  let inside = 0;

  function leave() {
    const next = waiting.shift();
    // The next one takes the place over.
    if (next) next();
    else inside--;
  }

  return {
    /**
     * @template T
     * @param {() => Promise<T>} work
     * @returns {Promise<T>}
     */
    async pass(work) {
      if (inside < most) inside++;
      else await new Promise((resolve) => waiting.push(() => resolve(undefined)));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
