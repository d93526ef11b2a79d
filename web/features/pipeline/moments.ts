import { useEffect, useState } from 'preact/hooks';
import { useServices } from '../../state/hooks.ts';
import type { PastStats, Stats } from './api.ts';
import { readRecentStats } from './api.ts';

/** Pipeline statistics at one moment. `at`: time in epoch ms by the clock of the page */
export type Moment = Stats & { at: number };

/** The time span of the charts, in ms. */
export const SPAN_MS = 300_000;

/** Maximum distance in ms of two moments that count as one moment, because statistics arrive once a second. */
const SAME_MS = 500;

/** @param items statistics, oldest first; the newest is placed at `now`, because the clock of the server may differ */
export function toMoments(items: PastStats[], now: number): Moment[] {
  const newest = Date.parse(items.at(-1)?.ts ?? '');
  return items.map(({ ts, ...stats }) => ({ ...stats, at: now - (newest - Date.parse(ts)) }));
}

/**
 * @param newer moments that replace moments of `known` with an equal time
 * @returns moments sorted by time, limited to the time span of the charts
 */
export function joinMoments(known: Moment[], newer: Moment[]): Moment[] {
  const begin = newer[0]?.at ?? Number.POSITIVE_INFINITY;
  const all = [...known.filter(({ at }) => at < begin - SAME_MS), ...newer];
  const oldest = (all.at(-1)?.at ?? 0) - SPAN_MS;
  return all.filter(({ at }) => at >= oldest);
}

/**
 * @returns statistics of the last minutes, oldest first: from the API before the page was opened, then from the
 *   stream
 */
export function useRecentStats(): Moment[] {
  const { client, clock, live } = useServices();
  const [moments, setMoments] = useState<Moment[]>([]);
  const status = live.status.value;

  useEffect(() => {
    const before = live.stats.peek();
    return live.stats.subscribe((stats) => {
      if (stats && stats !== before)
        setMoments((known) => joinMoments(known, [{ ...stats, at: clock.now() }]));
    });
  }, [clock, live]);

  // After a lost connection, or while nobody saw the page, the statistics from the API fill the gap, so they are read again.
  const isLost = status === 'reconnecting' || status === 'paused';
  useEffect(() => {
    if (isLost) return undefined;
    const abort = new AbortController();
    readRecentStats(client, abort.signal).then(
      ({ items }) => setMoments((known) => joinMoments(known, toMoments(items, clock.now()))),
      () => {},
    );
    return () => abort.abort();
  }, [client, clock, isLost]);
  return moments;
}
