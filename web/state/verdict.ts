import { useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { StreamStatus } from '../api/stream/index.ts';
import type { ProcessHealth } from '../api/types.ts';
import { formatCounted, formatDuration } from '../format.ts';
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
  /** one sentence for each process that has a problem */
  details: string[];
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
const STANDSTILL_MS = 5_000;
/** Waiting time in ms from which a message counts as late. */
export const LATE_MS = 10_000;
/** Time in ms for which reports of ingest processes may be missing without being a problem. */
const REPORTS_MS = 5_000;

export const GOOD: Verdict = {
  level: 'good',
  label: 'Ready',
  lastsMs: null,
  headline: 'All processes are ready, and the database answers.',
  details: [],
};

type Problem = Omit<Verdict, 'details'>;

export function verdictOf({ status, silentMs, health, withoutIngestMs }: Facts): Verdict {
  const isLost = silentMs > SILENT_MS || (status === 'reconnecting' && silentMs > LOST_MS);
  // A hidden tab has no connection on purpose, so its last state stays.
  if (isLost && status !== 'paused') return lost(status, silentMs);
  const problems = [...ofDatabase(health), ...ofBroker(health), ...ofIngest(health, withoutIngestMs)];
  const all = [...problems, ...ofMessages(health), ...ofOthers(health)];
  const worst = all.find(({ level }) => level === 'critical') ?? all[0];
  return worst ? { ...worst, details: health.flatMap(detailsOf) } : GOOD;
}

const LOST_LABELS = {
  live: 'No answer',
  connecting: 'Connecting',
  reconnecting: 'Reconnecting',
  paused: 'Paused',
};

const lost = (status: StreamStatus, silentMs: number): Verdict => ({
  level: 'critical',
  label: LOST_LABELS[status],
  lastsMs: silentMs,
  headline: `The API has not answered for ${lasting(silentMs)}. The values on this page are old.`,
  details: [],
});

const isAway = ({ checks }: ProcessHealth) => checks['database']?.ok === false;

const takes = ({ role }: ProcessHealth): boolean => role !== 'http';

function ofDatabase(health: ProcessHealth[]): Problem[] {
  const away = health.filter(isAway);
  if (away.length === 0) return [];
  const lastsMs = most(away, ({ unanswered_ms, unsettled }) =>
    Math.max(unanswered_ms, unsettled.standstill_ms),
  );
  const headline = databaseHeadline(away, away.length === health.length, lasting(lastsMs));
  return [{ level: 'critical', label: 'Database does not answer', lastsMs, headline }];
}

function databaseHeadline(away: ProcessHealth[], isAll: boolean, time: string): string {
  const messages = messagesOf(away);
  const waits = messages > 0 ? ` ${waiting(messages)}.` : '';
  if (!isAll) return `${namesOf(away)}: the database has not answered for ${time}.${waits}`;
  return messages > 0
    ? `Nothing stored for ${time}: the database does not answer.${waits}`
    : `The database has not answered for ${time}. Nothing can be stored or read.`;
}

function ofBroker(health: ProcessHealth[]): Problem[] {
  const away = health.filter(({ checks }) => checks['broker']?.ok === false);
  if (away.length === 0) return [];
  const label = 'Broker out of reach';
  const reason = away[0]?.checks['broker']?.message ?? '';
  const isAll = away.length === health.filter(takes).length;
  const what = isAll ? 'Nothing arrives' : `Nothing reaches ${namesOf(away)}`;
  const headline = `${what}: the broker is out of reach (${reason}). Messages wait there, or with the devices.`;
  return [{ level: 'critical', label, lastsMs: null, headline }];
}

function ofIngest(health: ProcessHealth[], withoutMs: number): Problem[] {
  if (health.length === 0 || health.some(takes) || withoutMs < REPORTS_MS) return [];
  const isCut = health.some(({ checks }) => checks['live']?.ok === false);
  const headline = isCut
    ? 'Nothing is known of the processes that store: the broker between them and this page is out of reach.'
    : 'Nothing is stored: no process that takes measurements reports.';
  return [
    {
      level: 'critical',
      label: isCut ? 'No news of ingest' : 'Nothing is stored',
      lastsMs: withoutMs,
      headline,
    },
  ];
}

/** Finds problems with messages that wait although the database answers. */
function ofMessages(health: ProcessHealth[]): Problem[] {
  const stuck = health.filter(
    (process) => !isAway(process) && process.unsettled.standstill_ms >= STANDSTILL_MS,
  );
  const late = health.filter(({ unsettled }) => unsettled.oldest_ms >= LATE_MS);
  if (stuck.length > 0) {
    const lastsMs = most(stuck, ({ unsettled }) => unsettled.standstill_ms);
    const all = stuck.length === health.filter(takes).length;
    const what = all ? 'Nothing stored' : `${namesOf(stuck)}: nothing stored`;
    const headline = `${what} for ${lasting(lastsMs)}, although the database answers. ${waiting(messagesOf(stuck))}.`;
    return [{ level: 'critical', label: 'Nothing stored', lastsMs, headline }];
  }
  if (late.length === 0) return [];
  const lastsMs = most(late, ({ unsettled }) => unsettled.oldest_ms);
  const isFailing = late.some(({ checks }) => checks['acknowledgements']?.ok === false);
  return [
    {
      level: isFailing ? 'critical' : 'warning',
      label: 'Messages wait',
      lastsMs,
      headline: `${waiting(messagesOf(late))}, the oldest for ${lasting(lastsMs)}. Storing is slow.`,
    },
  ];
}

/** Names of the checks whose problems other functions put into the verdict. */
const JUDGED = ['database', 'broker', 'acknowledgements'];

const ofOthers = (health: ProcessHealth[]): Problem[] =>
  health.flatMap(({ client_id, checks }) =>
    Object.entries(checks)
      .filter(([name, { ok }]) => !ok && !JUDGED.includes(name))
      .map(([name, { message }]) => otherProblem(client_id, name, message)),
  );

function otherProblem(process: string, check: string, message: string): Problem {
  if (check === 'clock') {
    const headline = `The clock of ${process} is wrong: it is ${message} clock.`;
    return { level: 'critical', label: 'A clock is wrong', lastsMs: null, headline };
  }
  const headline =
    check === 'live'
      ? `Changes reach readers of ${process} late: ${message}.`
      : `The check ${check} of ${process} fails: ${message}.`;
  return {
    level: 'warning',
    label: check === 'live' ? 'Changes come late' : 'A check fails',
    lastsMs: null,
    headline,
  };
}

/** @returns one sentence about the problems of a process; empty: the process has no problems */
function detailsOf({ client_id, checks, unanswered_ms, unsettled }: ProcessHealth): string[] {
  const { messages, oldest_ms, standstill_ms } = unsettled;
  const failed = Object.entries(checks).filter(([name, { ok }]) => !ok && name !== 'acknowledgements');
  const facts = failed.map(([name, { message }]) =>
    name === 'database'
      ? `the database has not answered for ${lasting(unanswered_ms)}`
      : `${name}: ${message}`,
  );
  if (messages > 0 && (oldest_ms >= LATE_MS || standstill_ms >= STANDSTILL_MS || facts.length > 0)) {
    facts.push(`${waiting(messages)}, the oldest for ${lasting(oldest_ms)}`);
  }
  return facts.length > 0 ? [`${client_id}: ${facts.join('; ')}.`] : [];
}

const messagesOf = (processes: ProcessHealth[]): number =>
  processes.reduce((sum, { unsettled }) => sum + unsettled.messages, 0);

const waiting = (messages: number) => formatCounted(messages, 'message waits', 'messages wait');

/** @returns the duration as text, at least 1 s */
const lasting = (ms: number): string => formatDuration(Math.max(1000, ms));

const most = (processes: ProcessHealth[], figure: (process: ProcessHealth) => number) =>
  Math.max(...processes.map(figure));

/** @returns `millrace-1`, `millrace-1 and millrace-2`, `3 processes` */
const namesOf = (processes: ProcessHealth[]): string =>
  processes.length > 2
    ? `${processes.length} processes`
    : processes.map(({ client_id }) => client_id).join(' and ');

/**
 * Returns the time since the values of this page stand still, as far as the processes report it.
 *
 * @returns time in ms; null: at least one process stores
 */
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

/** @returns the current verdict; while there is no problem, always the same object, so that the header is redrawn only after a change */
export function useVerdict(): Verdict {
  const { clock, live } = useServices();
  // A user who has just signed in had no connection before, so the time without an event counts from then on.
  const [openedAt] = useState(clock.local);
  return useComputed(() => {
    // Reading the clock here updates the durations each second, even without an event.
    void clock.time.value;
    const status = live.status.value;
    const { processes, receivedAt, ingestAt } = live.health.value;
    return verdictOf({
      status,
      silentMs: clock.local() - Math.max(receivedAt, openedAt, live.resumedAt()),
      health: processes,
      withoutIngestMs: receivedAt - ingestAt,
    });
  }).value;
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

/**
 * Finds whether the values of this page are old, because the connection is lost or no process stores.
 *
 * @returns null: as far as is known, values arrive
 */
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
