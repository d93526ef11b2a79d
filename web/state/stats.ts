import { useEffect, useState } from 'preact/hooks';
import type { Stats, StatsThen } from '../api/types.ts';
import { useServices } from './hooks.ts';
import { NOBODY } from './live.ts';
import { stalledMs } from './verdict.ts';

/** `at`: epoch ms by the clock that the whole page shows */
export type Moment = Stats & { at: number };

/** The charts reach back so far. */
export const SPAN_MS = 300_000;

/** Figures come once a second. Two moments this close are the same one. */
const SAME_MS = 500;

/**
 * @param items the newest counts as now, whatever the server's clock
 * @param now epoch ms
 */
export function placed(items: StatsThen[], now: number): Moment[] {
  const newest = Date.parse(items.at(-1)?.ts ?? '');
  return items.map(({ ts, ...stats }) => ({ ...stats, at: now - (newest - Date.parse(ts)) }));
}

/**
 * @param then win where both know of a moment
 * @returns in order of time, none older than the charts reach
 */
export function joined(first: Moment[], then: Moment[]): Moment[] {
  const begin = then[0]?.at ?? Number.POSITIVE_INFINITY;
  const all = [...first.filter(({ at }) => at < begin - SAME_MS), ...then];
  const oldest = (all.at(-1)?.at ?? 0) - SPAN_MS;
  return all.filter(({ at }) => at >= oldest);
}

/** @returns the last minutes, the oldest first: those before the page was opened, then those of the stream */
export function useRecentStats(): Moment[] {
  const { client, clock, live } = useServices();
  const [moments, setMoments] = useState<Moment[]>([]);
  const status = live.status.value;

  useEffect(() => {
    const before = live.stats.peek();
    return live.stats.subscribe((all) => {
      const stats = all.at(-1);
      if (stats && all !== before) setMoments((known) => joined(known, [{ ...stats, at: clock.now() }]));
    });
  }, [clock, live]);

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

/** For views that show no sensor: the connection stays, and with it the figures and whether it holds. */
export function useFiguresAlone() {
  const { live } = useServices();
  useEffect(() => live.follow({ devices: [NOBODY] }), [live]);
}

/** Why the values of this page are old, and since when: the connection is lost, or nothing is stored. `since`: epoch ms. */
export type Stale = { since: number; isLost: boolean };

/**
 * Whether the values of this page are old: the connection is lost, or no process stores.
 *
 * @returns null: values come, as far as is known
 */
export function useStale(): Stale | null {
  const { clock, live } = useServices();
  const [stale, setStale] = useState<Stale | null>(null);
  useEffect(() => {
    const judge = () => setStale(staleOf);
    const lastEventAt = () => clock.now() - (clock.local() - live.health.peek().receivedAt);
    function staleOf(before: Stale | null): Stale | null {
      if (live.status.peek() === 'reconnecting') return before ?? { since: lastEventAt(), isLost: true };
      const ms = stalledMs(live.health.peek().processes);
      if (ms === null) return null;
      return before && !before.isLost ? before : { since: clock.now() - ms, isLost: false };
    }
    judge();
    const endings = [live.status.subscribe(judge), live.health.subscribe(judge)];
    return () => {
      for (const end of endings) end();
    };
  }, [clock, live]);
  return stale;
}
