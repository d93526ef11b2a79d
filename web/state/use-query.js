import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';

/** @import { Problem } from '../api/problem.js' */

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
