import type { ProcessHealth } from '../../api/types.ts';
import { formatCounted } from '../../format.ts';
import type { Facts, Verdict } from '../../state/verdict.ts';
import { GOOD, lasting, lostVerdict, STANDSTILL_MS, takes } from '../../state/verdict.ts';

/** Waiting time in ms from which a message counts as late. */
export const LATE_MS = 10_000;
/** Time in ms for which reports of ingest processes may be missing without being a problem. */
const REPORTS_MS = 5_000;

/** A verdict with one sentence for each process that has a problem. */
export type DetailedVerdict = Verdict & { details: string[] };

const WELL: DetailedVerdict = { ...GOOD, details: [] };

export function verdictOf(facts: Facts): DetailedVerdict {
  const lost = lostVerdict(facts);
  if (lost) return { ...lost, details: [] };
  const { health, withoutIngestMs } = facts;
  const problems = [
    ...databaseProblems(health),
    ...brokerProblems(health),
    ...ingestProblems(health, withoutIngestMs),
  ];
  const all = [...problems, ...messageProblems(health), ...otherProblems(health)];
  const worst = all.find(({ level }) => level === 'critical') ?? all[0];
  return worst ? { ...worst, details: health.flatMap(detailsOf) } : WELL;
}

const isAway = ({ checks }: ProcessHealth) => checks['database']?.ok === false;

function databaseProblems(health: ProcessHealth[]): Verdict[] {
  const away = health.filter(isAway);
  if (away.length === 0) return [];
  const lastsMs = longest(away, ({ unanswered_ms, unsettled }) =>
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

function brokerProblems(health: ProcessHealth[]): Verdict[] {
  const away = health.filter(({ checks }) => checks['broker']?.ok === false);
  if (away.length === 0) return [];
  const label = 'Broker out of reach';
  const reason = away[0]?.checks['broker']?.message ?? '';
  const isAll = away.length === health.filter(takes).length;
  const what = isAll ? 'Nothing arrives' : `Nothing reaches ${namesOf(away)}`;
  const headline = `${what}: the broker is out of reach (${reason}). Messages wait there, or with the devices.`;
  return [{ level: 'critical', label, lastsMs: null, headline }];
}

function ingestProblems(health: ProcessHealth[], withoutMs: number): Verdict[] {
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
function messageProblems(health: ProcessHealth[]): Verdict[] {
  const stuck = health.filter(
    (process) => !isAway(process) && process.unsettled.standstill_ms >= STANDSTILL_MS,
  );
  const late = health.filter(({ unsettled }) => unsettled.oldest_ms >= LATE_MS);
  if (stuck.length > 0) {
    const lastsMs = longest(stuck, ({ unsettled }) => unsettled.standstill_ms);
    const all = stuck.length === health.filter(takes).length;
    const what = all ? 'Nothing stored' : `${namesOf(stuck)}: nothing stored`;
    const headline = `${what} for ${lasting(lastsMs)}, although the database answers. ${waiting(messagesOf(stuck))}.`;
    return [{ level: 'critical', label: 'Nothing stored', lastsMs, headline }];
  }
  if (late.length === 0) return [];
  const lastsMs = longest(late, ({ unsettled }) => unsettled.oldest_ms);
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

/** Names of the checks that the functions above judge. */
const JUDGED = ['database', 'broker', 'acknowledgements'];

const otherProblems = (health: ProcessHealth[]): Verdict[] =>
  health.flatMap(({ client_id, checks }) =>
    Object.entries(checks)
      .filter(([name, { ok }]) => !ok && !JUDGED.includes(name))
      .map(([name, { message }]) => otherProblem(client_id, name, message)),
  );

function otherProblem(process: string, check: string, message: string): Verdict {
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

const longest = (processes: ProcessHealth[], figure: (process: ProcessHealth) => number) =>
  Math.max(...processes.map(figure));

/** @returns `millrace-1`, `millrace-1 and millrace-2`, `3 processes` */
const namesOf = (processes: ProcessHealth[]): string =>
  processes.length > 2
    ? `${processes.length} processes`
    : processes.map(({ client_id }) => client_id).join(' and ');
