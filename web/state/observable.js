/**
 * A value with listeners for its changes.
 *
 * @template T
 * @typedef {object} Observable
 * @property {() => T} get
 * @property {(value: T) => void} set
 * @property {(listener: () => void) => () => void} subscribe gives the way to end it
 */

/**
 * @template T
 * @param {T} initial
 * @returns {Observable<T>}
 */
export function createObservable(initial) {
  let value = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
