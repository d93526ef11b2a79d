import { useEffect, useState } from 'preact/hooks';
import { useObservable, useParts } from './hooks.js';
import { joined, placed } from './recent-stats.js';

/** @import { Moment } from './recent-stats.js' */

/** @returns {Moment[]} the last minutes, the oldest first: what was before this page came, then what the stream tells */
export function useRecentStats() {
  const { client, clock, live } = useParts();
  const [moments, setMoments] = useState(/** @type {Moment[]} */ ([]));
  const status = useObservable(live.status);

  useEffect(
    () =>
      live.stats.subscribe(() => {
        const stats = live.stats.get().at(-1);
        if (stats) setMoments((known) => joined(known, [{ ...stats, at: clock.now() }]));
      }),
    [clock, live],
  );

  // A connection that was lost leaves a hole, which the server fills.
  useEffect(() => {
    if (status === 'reconnecting') return undefined;
    const abort = new AbortController();
    client.recentStats(abort.signal).then(
      ({ items }) => setMoments((known) => joined(known, placed(items, clock.now()))),
      () => {},
    );
    return () => abort.abort();
  }, [client, clock, status]);
  return moments;
}
