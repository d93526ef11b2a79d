/** What a message costs beside its payload: its decoded samples, its promises, its place in queues; in bytes. */
const MESSAGE_OVERHEAD = 2048;

/**
 * Bounds the bytes of messages that are being settled. Messages enter in the order in which they came; one that is
 * larger than the whole budget enters alone.
 *
 * @param {number} most bytes
 */
export function createBudget(most) {
  let used = 0;
  /** @type {Array<{ cost: number, enter: () => void }>} */
  const waiting = [];

  /** @param {number} cost */
  const fits = (cost) => used === 0 || used + cost <= most;

  function admit() {
    for (let next = waiting[0]; next && fits(next.cost); next = waiting[0]) {
      waiting.shift();
      used += next.cost;
      next.enter();
    }
  }

  return {
    /**
     * @template T
     * @param {number} payloadBytes
     * @param {() => Promise<T>} work begun at once where there is room
     * @returns {Promise<T>}
     */
    async run(payloadBytes, work) {
      const cost = payloadBytes + MESSAGE_OVERHEAD;
      if (waiting.length === 0 && fits(cost)) used += cost;
      else await new Promise((resolve) => waiting.push({ cost, enter: () => resolve(undefined) }));
      try {
        return await work();
      } finally {
        used -= cost;
        admit();
      }
    },
    get used() {
      return used;
    },
    get waiting() {
      return waiting.length;
    },
  };
}

/** @typedef {ReturnType<typeof createBudget>} Budget */
