import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/request.js';

/** @import { Client } from '../api/client.js' */
/** @import { Clock, Session } from './session.js' */
/** @import { Live } from './live.js' */
/** @import { Preferences, ThresholdMemory } from './preferences.js' */
/** @import { Router } from '../routes.js' */
/** @import { Vocabulary } from './lists.js' */
/** @import { Problem } from '../api/request.js' */

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

/** @param {string} title what this view shows; becomes the name of the tab and of the history entry */
export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · Millrace` : 'Millrace';
  }, [title]);
}

/** Temporary problems are retried after this time. */
const RETRY_MS = 5_000;
/** A wait longer than this is reported. */
const SLOW_MS = 4_000;

/**
 * @template T
 * @typedef {object} Answer
 * @property {T | null} data the last answer; while another one is asked for, the one before
 * @property {Problem | null} problem
 * @property {boolean} loading
 * @property {boolean} slow
 * @property {() => void} reload
 */

/**
 * Requests the API whenever `key` changes, and drops answers of an earlier key. Temporary problems are retried. With `refreshMs`
 * the answer is refreshed in the background; if that fails, the last answer stays. A reload waits for the request that runs.
 *
 * @template T
 * @param {string} key everything that the question depends on
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {{ refreshMs?: number }} [options]
 * @returns {Answer<T>}
 */
export function useQuery(key, ask, { refreshMs } = {}) {
  const [answer, setAnswer] = useState({
    data: /** @type {T | null} */ (null),
    problem: /** @type {Problem | null} */ (null),
    loading: true,
    slow: false,
  });
  const [round, setRound] = useState(0);
  /** `isUnder`: a request runs. `again`: another one follows, since the running one may miss new data. */
  const way = useRef({ isUnder: false, again: false });
  const reload = useCallback(() => {
    if (way.current.isUnder) way.current.again = true;
    else setRound((count) => count + 1);
  }, []);
  const answered = useRef(/** @type {string | null} */ (null));
  const newest = useRef(ask);
  newest.current = ask;

  // The key and the round trigger a request: `ask` is a new function on every drawing.
  useEffect(() => {
    const abort = new AbortController();
    const quietly = answered.current === key;
    way.current = { isUnder: true, again: false };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let nextTimer;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let slowTimer;
    if (!quietly) {
      answered.current = null;
      slowTimer = setTimeout(() => setAnswer((now) => ({ ...now, slow: true })), SLOW_MS);
      setAnswer((now) => ({ ...now, loading: true, slow: false }));
    }
    newest
      .current(abort.signal)
      .then((data) => ({ data, problem: null }))
      .catch((error) => ({ problem: toProblem(error) }))
      .then((result) => {
        clearTimeout(slowTimer);
        if (abort.signal.aborted) return;
        const isNews = way.current.again;
        way.current = { isUnder: false, again: false };
        if (!result.problem) answered.current = key;
        if (!result.problem || !quietly) {
          setAnswer((now) => ({ ...now, ...result, loading: false, slow: false }));
        }
        if (isNews && !result.problem) return reload();
        const again = quietly || !result.problem ? refreshMs : result.problem.passes ? RETRY_MS : undefined;
        if (again !== undefined) nextTimer = setTimeout(reload, again);
      });
    return () => {
      clearTimeout(slowTimer);
      clearTimeout(nextTimer);
      abort.abort();
      way.current = { isUnder: false, again: false };
    };
  }, [key, round, reload, refreshMs]);

  return { ...answer, reload };
}
