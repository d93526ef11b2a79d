/**
 * The order of one device's messages: they are begun in order of arrival, and what comes after a birth waits until
 * the birth is committed, so that the first measurement of a newborn device finds it registered.
 */
export function createLanes() {
  /** @type {Map<string, Promise<unknown>>} the birth that a device's messages wait for */
  const births = new Map();

  return {
    /**
     * @template T
     * @param {string} device id
     * @param {boolean} isBirth
     * @param {() => Promise<T>} work
     * @returns {Promise<T>}
     */
    run(device, isBirth, work) {
      const before = births.get(device);
      // Whether the birth before failed is the business of its own message.
      const done = before ? before.then(work, work) : work();
      if (isBirth) {
        births.set(device, done);
        const leave = () => {
          if (births.get(device) === done) births.delete(device);
        };
        done.then(leave, leave);
      }
      return done;
    },
  };
}

/** @typedef {ReturnType<typeof createLanes>} Lanes */
