import { createContext } from 'preact';
import { useContext, useEffect, useReducer } from 'preact/hooks';

/** @import { Client } from '../api/client.js' */
/** @import { Clock } from './clock.js' */
/** @import { Live } from './live.js' */
/** @import { Observable } from './observable.js' */
/** @import { Preferences } from './preferences.js' */
/** @import { Router } from './router.js' */
/** @import { Session } from './session.js' */
/** @import { ThresholdMemory } from './thresholds.js' */
/** @import { Vocabulary } from './lists.js' */

/**
 * Everything that views need, created once in main.js.
 *
 * @typedef {object} Services
 * @property {Client} client
 * @property {Live} live
 * @property {Session} session
 * @property {Router} router
 * @property {Preferences} preferences
 * @property {ThresholdMemory} thresholds
 * @property {Vocabulary} vocabulary
 * @property {Clock} clock
 */

export const ServicesContext = createContext(/** @type {Services | null} */ (null));

/** @returns {Services} */
export function useServices() {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('a component stands outside of ServicesContext');
  return services;
}

/**
 * Redraws the component on each change of the source.
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

/** @param {string} title what this view shows; becomes the name of the tab and of the history entry */
export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · Millrace` : 'Millrace';
  }, [title]);
}
