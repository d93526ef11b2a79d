import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';

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
 * Asks the API whenever `key` changes; an answer that came too late for its key is dropped.
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
  const newest = useRef(ask);
  newest.current = ask;

  // The key and the round say when to ask: `ask` is a new function on every drawing.
  useEffect(() => {
    const abort = new AbortController();
    const slowTimer = setTimeout(() => setAnswer((now) => ({ ...now, slow: true })), SLOW_MS);
    setAnswer((now) => ({ ...now, loading: true, slow: false }));
    newest
      .current(abort.signal)
      .then((data) => ({ data, problem: null }))
      .catch((error) => ({ problem: toProblem(error) }))
      .then((result) => {
        clearTimeout(slowTimer);
        if (!abort.signal.aborted) setAnswer((now) => ({ ...now, ...result, loading: false, slow: false }));
      });
    return () => {
      clearTimeout(slowTimer);
      abort.abort();
    };
  }, [key, round]);

  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { ...answer, reload };
}
