import { useCallback, useEffect, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { aheadOf, MOVED_MS } from '../state/clock.js';
import { useParts } from '../state/hooks.js';
import { spanOf, takeIn } from './counts.js';

/** @import { Problem } from '../api/problem.js' */
/** @import { RefusedHour } from '../api/types.js' */
/** @import { RANGES, Span } from './counts.js' */

/** What was counted is kept; so long after, what has come since is counted. */
const REFRESH_MS = 10_000;
const RETRY_MS = 5000;
const HOUR_MS = 3_600_000;

/**
 * @typedef {object} LetterCounts
 * @property {RefusedHour[]} hours
 * @property {Span} span what is asked for
 * @property {number} reached epoch ms back to which all is counted
 * @property {Problem | null} problem why it does not go on
 */

/**
 * Counts back from now, in as many steps as the API needs: where there is too much for one answer, that begins later than
 * asked for, and the next one ends there.
 *
 * @param {typeof RANGES[number]} range
 */
export function useLetterCounts(range) {
  const { client, clock } = useParts();
  const [round, setRound] = useState(0);
  const [counts, setCounts] = useState(() => nothingYet(range, clock.now()));

  useEffect(() => {
    const abort = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let known = nothingYet(range, clock.now());
    let countedAt = 0;
    const show = (/** @type {Partial<LetterCounts>} */ change) => {
      known = { ...known, ...change };
      if (!abort.signal.aborted) setCounts(known);
    };

    /** @param {number} from @param {number} [to] */
    async function countBack(from, to) {
      for (let end = to; end === undefined || end > from; ) {
        const answer = await client.deadLetterSummary({ from, to: end }, abort.signal);
        const reached = Date.parse(answer.from);
        const isFirst = reached < known.reached;
        show({ hours: takeIn(known.hours, answer, end), ...(isFirst && { reached }), problem: null });
        // An answer that does not come further would be asked for for ever.
        if (reached >= (end ?? Number.POSITIVE_INFINITY)) return;
        end = reached;
      }
    }

    async function goOn() {
      let again = REFRESH_MS;
      const now = clock.now();
      const ahead = aheadOf(clock);
      try {
        if (known.reached > known.span.from) {
          const isNew = known.reached === Number.POSITIVE_INFINITY;
          if (isNew) countedAt = now;
          await countBack(known.span.from, isNew ? undefined : known.reached);
        } else {
          show({ span: spanOf(range, now) });
          // A letter bears the time of its receipt, and may be written a little later.
          await countBack(Math.floor(countedAt / HOUR_MS - 1) * HOUR_MS);
          countedAt = now;
        }
      } catch (error) {
        const problem = toProblem(error);
        show({ problem });
        again = problem.passes ? RETRY_MS : Number.POSITIVE_INFINITY;
      }
      if (Math.abs(aheadOf(clock) - ahead) > MOVED_MS) {
        known = nothingYet(range, clock.now());
        again = 0;
      }
      if (!abort.signal.aborted && again !== Number.POSITIVE_INFINITY) timer = setTimeout(goOn, again);
    }

    setCounts(known);
    void goOn();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, clock, range, round]);

  return { ...counts, reload: useCallback(() => setRound((count) => count + 1), []) };
}

/** @param {typeof RANGES[number]} range @param {number} now epoch ms @returns {LetterCounts} */
const nothingYet = (range, now) => ({
  hours: [],
  span: spanOf(range, now),
  reached: Number.POSITIVE_INFINITY,
  problem: null,
});
