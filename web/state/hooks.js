import { createContext } from 'preact';
import { useContext, useEffect, useReducer } from 'preact/hooks';

/**
 * Everything that a view may need, made once in main.js.
 *
 * @typedef {object} Parts
 * @property {import('../api/client.js').Client} client
 * @property {import('./live.js').Live} live
 * @property {import('./session.js').Session} session
 * @property {import('./router.js').Router} router
 * @property {import('./preferences.js').Preferences} preferences
 * @property {import('./threshold-memory.js').ThresholdMemory} thresholds
 * @property {import('./vocabulary.js').Vocabulary} vocabulary
 * @property {import('./clock.js').Clock} clock
 * @property {import('../views/load.js').Views} views
 */

export const PartsContext = createContext(/** @type {Parts | null} */ (null));

/** @returns {Parts} */
export function useParts() {
  const parts = useContext(PartsContext);
  if (!parts) throw new Error('a component stands outside of PartsContext');
  return parts;
}

/**
 * Draws the component anew whenever the source tells a change.
 *
 * @param {(listener: () => void) => () => void} subscribe the same function as long as the source is the same
 */
export function useChanges(subscribe) {
  const [, redraw] = useReducer((/** @type {number} */ count) => count + 1, 0);
  useEffect(() => subscribe(() => redraw(undefined)), [subscribe]);
}

/**
 * @template T
 * @param {import('./observable.js').Observable<T>} observable
 * @returns {T}
 */
export function useObservable(observable) {
  useChanges(observable.subscribe);
  return observable.get();
}
