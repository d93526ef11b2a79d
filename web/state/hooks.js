import { createContext } from 'preact';
import { useContext, useEffect, useReducer } from 'preact/hooks';

/** @import { Client } from '../api/client.js' */
/** @import { Views } from '../views/load.js' */
/** @import { Clock } from './clock.js' */
/** @import { Live } from './live.js' */
/** @import { Observable } from './observable.js' */
/** @import { Preferences } from './preferences.js' */
/** @import { Router } from './router.js' */
/** @import { Session } from './session.js' */
/** @import { ThresholdMemory } from './threshold-memory.js' */
/** @import { Vocabulary } from './vocabulary.js' */

/**
 * Everything that a view may need, made once in main.js.
 *
 * @typedef {object} Parts
 * @property {Client} client
 * @property {Live} live
 * @property {Session} session
 * @property {Router} router
 * @property {Preferences} preferences
 * @property {ThresholdMemory} thresholds
 * @property {Vocabulary} vocabulary
 * @property {Clock} clock
 * @property {Views} views
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
 * @param {Observable<T>} observable
 * @returns {T}
 */
export function useObservable(observable) {
  useChanges(observable.subscribe);
  return observable.get();
}
