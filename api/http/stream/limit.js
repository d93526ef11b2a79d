/**
 * Bounds how many of something are under way; the others wait, in order.
 *
 * @param {number} most
 * @returns {<T>(work: () => Promise<T>) => Promise<T>}
 */
export function createLimit(most) {
  /** @type {Array<() => void>} */
  const waiting = [];
  let running = 0;

  return async (work) => {
    if (running < most) running++;
    else await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    try {
      return await work();
    } finally {
      // Whoever waits takes the place over.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** @typedef {ReturnType<typeof createLimit>} Limit */
