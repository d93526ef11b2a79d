/**
 * A committed newer value of a sensor, as readers see it.
 *
 * @typedef {object} Change
 * @property {string} device_id
 * @property {string} sensor_id
 * @property {string | null} device the device's name
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {number | null} ts epoch ms
 * @property {number | null} value
 */

/**
 * Where ingest tells what it has committed, and readers hear it.
 */
export function createLive() {
  /** @type {Set<(changes: Change[]) => void>} */
  const listeners = new Set();

  return {
    /** @param {Change[]} changes */
    publish(changes) {
      for (const listener of listeners) listener(changes);
    },
    /** @param {(changes: Change[]) => void} listener @returns {() => void} ends the subscription */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get listening() {
      return listeners.size > 0;
    },
  };
}

/** @typedef {ReturnType<typeof createLive>} Live */
