/**
 * Collects what changed and tells it once before the next frame: a sensor that changes a hundred times
 * between two frames is drawn once.
 *
 * @param {(run: () => void) => void} requestFrame
 */
export function createFrameQueue(requestFrame) {
  /** @type {Set<string>} */
  let waiting = new Set();
  /** @type {Map<string, Set<() => void>>} */
  const listeners = new Map();

  function flush() {
    const keys = [...waiting];
    waiting = new Set();
    for (const key of keys) {
      for (const listener of [...(listeners.get(key) ?? [])]) listener();
    }
  }

  return {
    /** @param {string} key */
    tell(key) {
      if (waiting.size === 0) requestFrame(flush);
      waiting.add(key);
    },
    /** @param {string} key @param {() => void} listener @returns {() => void} ends it */
    subscribe(key, listener) {
      const own = listeners.get(key) ?? new Set();
      listeners.set(key, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(key) === own) listeners.delete(key);
      };
    },
  };
}
