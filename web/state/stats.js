import { useEffect, useRef, useState } from 'preact/hooks';
import { useObservable, useServices } from './hooks.js';

/** @import { Stats, StatsThen } from '../api/types.js' */

/**
 * @typedef {Stats & { at: number }} Moment `at`: epoch ms by the clock that the whole page shows
 */

/** The charts reach back so far. */
export const SPAN_MS = 300_000;

/** Figures come once a second. Two moments this close are the same one. */
const SAME_MS = 500;

/**
 * @param {StatsThen[]} items the newest counts as now, whatever the server's clock
 * @param {number} now epoch ms
 * @returns {Moment[]}
 */
export function placed(items, now) {
  const newest = Date.parse(items.at(-1)?.ts ?? '');
  return items.map(({ ts, ...stats }) => ({ ...stats, at: now - (newest - Date.parse(ts)) }));
}

/**
 * @param {Moment[]} first
 * @param {Moment[]} then win where both know of a moment
 * @returns {Moment[]} in order of time, none older than the charts reach
 */
export function joined(first, then) {
  const begin = then[0]?.at ?? Number.POSITIVE_INFINITY;
  const all = [...first.filter(({ at }) => at < begin - SAME_MS), ...then];
  const oldest = (all.at(-1)?.at ?? 0) - SPAN_MS;
  return all.filter(({ at }) => at >= oldest);
}

/** @returns {Moment[]} the last minutes, the oldest first: those before the page was opened, then those of the stream */
export function useRecentStats() {
  const { client, clock, live } = useServices();
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

/** The nil UUID (RFC 9562, section 5.9), which no name maps to. Its follower receives the figures of the pipeline only. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** For views that show no sensor: the connection stays, and with it the figures and whether it holds. */
export function useFiguresAlone() {
  const { live } = useServices();
  useEffect(() => live.follow({ devices: [NOBODY] }), [live]);
}

/**
 * The time of the last event before the connection was lost. The server sends one each second.
 *
 * @returns {number | null} epoch ms; null: the connection is there
 */
export function useOfflineSince() {
  const { clock, live } = useServices();
  const status = useObservable(live.status);
  const receivedAt = useRef(clock.now());
  useEffect(
    () =>
      live.stats.subscribe(() => {
        receivedAt.current = clock.now();
      }),
    [clock, live],
  );
  return status === 'reconnecting' ? receivedAt.current : null;
}
