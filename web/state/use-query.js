import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';

/** @import { Problem } from '../api/problem.js' */

/** What fails and may pass is asked again by itself after so long. */
const RETRY_MS = 5_000;
/** After so long a wait is worth a word. */
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
 * Asks the API whenever `key` changes; an answer that came too late for its key is dropped. What could not be answered
 * for now is asked again, until it can. What was answered may be asked again now and then, without a word: if that
 * fails, the answer before it stands. However often it is reloaded, what is under way is waited for.
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
  /** Whether an answer is on its way; and whether it is to be asked for once more then, since what is under way may miss what is new. */
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
