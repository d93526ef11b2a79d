/**
 * The last few of many things, by name.
 *
 * @template T
 * @param {number} most
 */
export function createRecent(most) {
  /** @type {Map<string, T>} */
  const kept = new Map();
  return {
    /** @param {string} name @returns {T | undefined} */
    get: (name) => kept.get(name),
    /** @param {string} name @param {T} thing */
    set(name, thing) {
      // Put in anew, it stands last among those to be forgotten.
      kept.delete(name);
      kept.set(name, thing);
      for (const oldest of kept.keys()) {
        if (kept.size <= most) return;
        kept.delete(oldest);
      }
    },
  };
}
