/** @import { Thresholds } from './thresholds.js' */

const KEY = 'millrace.thresholds';
/** Sensors; those whose lines were drawn longest ago are forgotten first. */
const SENSORS_KEPT = 500;

/**
 * The lines that a reader drew, by sensor, remembered in this browser.
 *
 * @param {{ storage: Storage }} parts
 */
export function createThresholdMemory({ storage }) {
  /** @returns {Map<string, Thresholds>} what another tab drew meanwhile is there, too */
  function read() {
    try {
      const kept = JSON.parse(storage.getItem(KEY) ?? '[]');
      return new Map(kept.filter(isEntry));
    } catch {
      // Storage is forbidden or holds something else: nothing is remembered.
      return new Map();
    }
  }

  return {
    /** @param {string} sensor key @returns {Thresholds | null} */
    recall: (sensor) => read().get(sensor) ?? null,

    /** @param {string} sensor key @param {Thresholds} thresholds none at all: forgotten */
    remember(sensor, thresholds) {
      const kept = read();
      kept.delete(sensor);
      if (thresholds.low !== null || thresholds.high !== null) kept.set(sensor, thresholds);
      try {
        storage.setItem(KEY, JSON.stringify([...kept].slice(-SENSORS_KEPT)));
      } catch {
        // Forbidden or full: the address still says them.
      }
    },
  };
}

/** @typedef {ReturnType<typeof createThresholdMemory>} ThresholdMemory */

/** @param {any} entry */
function isEntry(entry) {
  const isLine = (/** @type {unknown} */ line) => line === null || Number.isFinite(line);
  return (
    Array.isArray(entry) && typeof entry[0] === 'string' && isLine(entry[1]?.low) && isLine(entry[1]?.high)
  );
}
