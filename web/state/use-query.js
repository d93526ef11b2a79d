import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';

/** What fails and may pass is asked again by itself after so long. */
const RETRY_MS = 5_000;
/** After so long a wait is worth a word. */
const SLOW_MS = 4_000;

/**
 * @template T
 * @typedef {object} Answer
 * @property {T | null} data the last answer; while another one is asked for, the one before
 * @property {import('../api/problem.js').Problem | null} problem
 * @property {boolean} loading
 * @property {boolean} slow
 * @property {() => void} reload
 */

/**
 * Asks the API whenever `key` changes; an answer that came too late for its key is dropped. What could not be
 * answered for now is asked again, until it can.
 *
 * @template T
 * @param {string} key everything that the question depends on
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @returns {Answer<T>}
 */
export function useQuery(key, ask) {
  const [answer, setAnswer] = useState({
    data: /** @type {T | null} */ (null),
    problem: /** @type {import('../api/problem.js').Problem | null} */ (null),
    loading: true,
    slow: false,
  });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const newest = useRef(ask);
  newest.current = ask;

  // The key and the round say when to ask: `ask` is a new function on every drawing.
  useEffect(() => {
    const abort = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let retryTimer;
    const slowTimer = setTimeout(() => setAnswer((now) => ({ ...now, slow: true })), SLOW_MS);
    setAnswer((now) => ({ ...now, loading: true, slow: false }));
    newest
      .current(abort.signal)
      .then((data) => ({ data, problem: null }))
      .catch((error) => ({ problem: toProblem(error) }))
      .then((result) => {
        clearTimeout(slowTimer);
        if (abort.signal.aborted) return;
        setAnswer((now) => ({ ...now, ...result, loading: false, slow: false }));
        if (result.problem?.passes) retryTimer = setTimeout(reload, RETRY_MS);
      });
    return () => {
      clearTimeout(slowTimer);
      clearTimeout(retryTimer);
      abort.abort();
    };
  }, [key, round, reload]);

  return { ...answer, reload };
}
