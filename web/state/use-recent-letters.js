import { useEffect, useState } from 'preact/hooks';
import { aheadOf, MOVED_MS } from './clock.js';
import { useParts } from './hooks.js';

const EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * How many dead letters came within the last hour; asked once a minute, without a word where there is no answer: whoever
 * wants to know more opens the view.
 *
 * @returns {number} 0 as long as it is not known
 */
export function useRecentLetters() {
  const { client, clock } = useParts();
  const [letters, setLetters] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const ask = () =>
      client.deadLetterSummary({ from: clock.now() - HOUR_MS }, abort.signal).then(
        ({ items }) => setLetters(items.reduce((sum, hour) => sum + hour.dead_letters, 0)),
        () => {},
      );
    // The first answer says what time it is there; an hour of a machine that is wrong is another hour.
    const before = aheadOf(clock);
    void ask().then(() => {
      if (!abort.signal.aborted && Math.abs(aheadOf(clock) - before) > MOVED_MS) void ask();
    });
    const timer = setInterval(ask, EVERY_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [client, clock]);
  return letters;
}
