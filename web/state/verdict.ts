import { useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { StreamStatus } from '../api/stream/index.ts';
import type { ProcessHealth } from '../api/types.ts';
import { formatDuration } from '../format.ts';
import { useServices } from './hooks.ts';

/** The severity of the verdict on the installation. All pages show one verdict. */
export type Level = 'good' | 'warning' | 'critical';

export interface Verdict {
  /** severity; `critical`: nothing is stored, nothing arrives, or the state is unknown */
  level: Level;
  /** short text without the duration */
  label: string;
  /** duration of the problem in ms; null: unknown */
  lastsMs: number | null;
  /** one or two sentences */
  headline: string;
}

export interface Facts {
  status: StreamStatus;
  silentMs: number;
  health: ProcessHealth[];
  /** time in ms since an event last contained an ingest process */
  withoutIngestMs: number;
}

/** Time in ms without an event after which a reconnecting stream counts as lost. The server sends an event each second. */
const LOST_MS = 5_000;
/** Time in ms without an event after which the connection counts as lost in any status. */
const SILENT_MS = 10_000;
/** Time in ms without progress after which nothing counts as stored. */
export const STANDSTILL_MS = 5_000;

export const GOOD: Verdict = {
  level: 'good',
  label: 'Ready',
  lastsMs: null,
  headline: 'All processes are ready, and the database answers.',
};

const NO_DATABASE: Verdict = {
  level: 'critical',
  label: 'Database does not answer',
  lastsMs: null,
  headline: 'The database does not answer. Nothing can be stored or read.',
};

const LOST_LABELS = {
  live: 'No answer',
  connecting: 'Connecting',
  reconnecting: 'Reconnecting',
  paused: 'Paused',
};

/** @returns the duration as text, at least 1 s */
export const lasting = (ms: number): string => formatDuration(Math.max(1000, ms));

/** @returns the verdict that the connection is lost; null: it is not, or the tab is hidden and has none on purpose */
export function lostVerdict({ status, silentMs }: Pick<Facts, 'status' | 'silentMs'>): Verdict | null {
  const isLost = silentMs > SILENT_MS || (status === 'reconnecting' && silentMs > LOST_MS);
  if (!isLost || status === 'paused') return null;
  return {
    level: 'critical',
    label: LOST_LABELS[status],
    lastsMs: silentMs,
    headline: `The API has not answered for ${lasting(silentMs)}. The values on this page are old.`,
  };
}

/** Judges only the connection, and whether the database answers. A feature may judge more finely. */
export function plainVerdictOf(facts: Facts): Verdict {
  const isAway =
    facts.health.length > 0 && facts.health.every(({ checks }) => checks['database']?.ok === false);
  return lostVerdict(facts) ?? (isAway ? NO_DATABASE : GOOD);
}

/** @returns the current verdict; a component is redrawn only if `judge` returns another object */
export function useVerdictBy<V extends Verdict>(judge: (facts: Facts) => V): V {
  const { clock, live } = useServices();
  // A user who has just signed in had no connection before, so the time without an event counts from then on.
  const [openedAt] = useState(clock.local);
  return useComputed(() => {
    // Reading the clock here updates the durations each second, even without an event.
    void clock.time.value;
    const status = live.status.value;
    const { processes, receivedAt, ingestAt } = live.health.value;
    return judge({
      status,
      silentMs: clock.local() - Math.max(receivedAt, openedAt, live.resumedAt()),
      health: processes,
      withoutIngestMs: receivedAt - ingestAt,
    });
  }).value;
}

export const takes = ({ role }: ProcessHealth): boolean => role !== 'http';

/** @returns time in ms since the values of this page stand still; null: at least one process stores */
export function stalledMs(health: ProcessHealth[]): number | null {
  const storing = health.filter(takes);
  if (storing.length === 0) return null;
  const times = storing.map(({ checks, unanswered_ms, unsettled: { standstill_ms } }) => {
    if (checks['database']?.ok === false) return Math.max(unanswered_ms, standstill_ms);
    if (checks['broker']?.ok === false) return standstill_ms;
    return standstill_ms >= STANDSTILL_MS ? standstill_ms : null;
  });
  return times.some((time) => time === null) ? null : Math.min(...times.map(Number));
}

/** The reason why the values of this page are old: the connection is lost, or nothing is stored. `since`: time in epoch ms */
export type Stale = { since: number; isLost: boolean };

function staleOf(
  before: Stale | null,
  { clock, live }: Pick<ReturnType<typeof useServices>, 'clock' | 'live'>,
): Stale | null {
  const { receivedAt, processes } = live.health.peek();
  const lastEventAt = clock.now() - (clock.local() - receivedAt);
  if (live.status.peek() === 'reconnecting') return before ?? { since: lastEventAt, isLost: true };
  const ms = stalledMs(processes);
  if (ms === null) return null;
  return before && !before.isLost ? before : { since: clock.now() - ms, isLost: false };
}

/** @returns why the values of this page are old; null: as far as is known, values arrive */
export function useStale(): Stale | null {
  const { clock, live } = useServices();
  const [stale, setStale] = useState(() => staleOf(null, { clock, live }));
  useEffect(() => {
    const judge = () => setStale((before) => staleOf(before, { clock, live }));
    judge();
    const endings = [live.status.subscribe(judge), live.health.subscribe(judge)];
    return () => {
      for (const end of endings) end();
    };
  }, [clock, live]);
  return stale;
}
