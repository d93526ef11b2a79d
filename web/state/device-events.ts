import { useState } from 'preact/hooks';
import type { Problem } from '../api/request.ts';
import { toProblem } from '../api/request.ts';
import type { DeviceEvent, Page, UnwatchedTime } from '../api/types.ts';
import { useQuery, useServices } from './hooks.ts';

// The history of a device from its events in the order of the API: the newest session first, and in a session the last event
// first.

/** A device was online without a break. */
export interface OnlineSpan {
  /** epoch ms */
  from: number;
  /** epoch ms; null: still */
  to: number | null;
}

/** No process watched, so nobody knows the state. */
export interface Unwatched {
  /** epoch ms */
  from: number;
  /** epoch ms */
  to: number;
}

/** An event, and what follows from those around it. */
export interface Listed {
  kind: DeviceEvent['kind'];
  /** epoch ms */
  ts: number;
  /** the clock of the device minus that of the server in ms; null: no difference is known */
  clockOffset: number | null;
  /** of `offline`: since when it had been online; null: not known */
  onlineFrom: number | null;
}

/**
 * @param newest first
 * @returns the same, in the same order
 */
export function listed(newest: DeviceEvent[]): Listed[] {
  return newest.map(({ kind, ts, clock_offset_ms }, index) => ({
    kind,
    ts: Date.parse(ts),
    clockOffset: clock_offset_ms ?? null,
    onlineFrom: kind === 'offline' ? onlineBefore(newest, index) : null,
  }));
}

/**
 * @param index of an `offline`
 * @returns epoch ms; sessions that followed each other without an `offline` count as one
 */
function onlineBefore(newest: DeviceEvent[], index: number): number | null {
  let since = null;
  for (const { kind, ts } of newest.slice(index + 1)) {
    if (kind === 'offline') break;
    if (kind === 'online') since = Date.parse(ts);
  }
  return since;
}

/**
 * When a device was online.
 *
 * @param newest first
 * @param since epoch ms from which the events are complete, if it was online then; null: it was not, or nobody knows
 * @returns oldest first
 */
export function onlineSpans(newest: DeviceEvent[], since: number | null): OnlineSpan[] {
  const spans: OnlineSpan[] = since === null ? [] : [{ from: since, to: null }];
  for (const { kind, ts } of newest.toReversed()) {
    const last = spans.at(-1);
    const isOpen = last?.to === null;
    if (kind === 'online' && !isOpen) {
      // The end has the time of its receipt, which may be after the next beginning.
      if (last) last.to = Math.min(last.to ?? 0, Date.parse(ts));
      spans.push({ from: Date.parse(ts), to: null });
    }
    if (kind === 'offline' && last && isOpen) last.to = Math.max(Date.parse(ts), last.from);
  }
  return spans;
}

/**
 * @param newest first, all of them before an instant
 * @returns epoch ms since when it was online at that instant; null: it was not, or nobody knows
 */
export function onlineAfter(newest: DeviceEvent[]): number | null {
  // A birth may come at any time, and does not change the state.
  const last = newest.find(({ kind }) => kind !== 'birth');
  return last?.kind === 'online' ? Date.parse(last.ts) : null;
}

/**
 * @param spans oldest first
 * @param ts epoch ms
 * @returns the one that holds it
 */
export const spanAt = (spans: OnlineSpan[], ts: number): OnlineSpan | null =>
  spans.findLast(({ from, to }) => from <= ts && (to === null || ts < to)) ?? null;

/**
 * @param ts epoch ms
 * @returns whether no process watched at that instant
 */
export const isUnwatched = (unwatched: Unwatched[], ts: number): boolean =>
  unwatched.some(({ from, to }) => from <= ts && ts < to);

/**
 * Pages that were read one after the other, while new events came on top.
 *
 * @param top the newest page, as it is now
 * @param older what was read before
 * @returns each event once
 */
export function mergeEvents(top: DeviceEvent[], older: DeviceEvent[]): DeviceEvent[] {
  const seen = new Set(top.map(eventKey));
  return [...top, ...older.filter((event) => !seen.has(eventKey(event)))];
}

/** More pages at once are too many to be waited for. */
const MOST_PAGES = 10;

/**
 * Reads new events page by page, down to a known event.
 *
 * @param read a page, newest first
 * @param known newest first; none: one page is enough
 * @returns `meets`: between these and those known nothing is missing
 */
export async function readNews(
  read: (cursor: string | null) => Promise<Page<DeviceEvent>>,
  known: DeviceEvent[],
): Promise<Page<DeviceEvent> & { meets: boolean }> {
  const seen = new Set(known.map(eventKey));
  let { items, next } = await read(null);
  let meets = items.some((event) => seen.has(eventKey(event)));
  for (let pages = 1; seen.size > 0 && !meets && next !== null && pages < MOST_PAGES; pages += 1) {
    const page = await read(next);
    meets = page.items.some((event) => seen.has(eventKey(event)));
    items = [...items, ...page.items];
    next = page.next;
  }
  return { items, next, meets };
}

const eventKey = ({ ts, kind }: DeviceEvent) => `${ts} ${kind}`;

/**
 * @param newest first
 * @param ts epoch ms
 * @returns what happened at that very instant, in its order
 */
export const happenedAt = (newest: DeviceEvent[], ts: number): DeviceEvent['kind'][] =>
  newest
    .filter((event) => Date.parse(event.ts) === ts)
    .map(({ kind }) => kind)
    .reverse();

const PAGE = 20;
/** The most events of one range: a chart cannot show more. */
const MOST_IN_RANGE = 1000;
/** New events are found by polling. */
const REFRESH = { refreshMs: 4_000 };

/**
 * The events of a device, newest first, page by page. New events appear by themselves.
 *
 * @param device id
 */
export function useDeviceEvents(device: string) {
  const { client } = useServices();
  const [older, setOlder] = useState<Page<DeviceEvent> | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const top = useQuery(
    device,
    async (signal) => {
      const page = (cursor: string | null) => client.events(device, { limit: PAGE, cursor }, signal);
      const news = await readNews(page, older?.items ?? []);
      // Too many events came at once. The list restarts, rather than having a gap.
      setOlder((now) => now && (news.meets ? { ...now, items: mergeEvents(news.items, now.items) } : null));
      return news;
    },
    REFRESH,
  );
  const known = top.data ? mergeEvents(top.data.items, older?.items ?? []) : null;
  const next = older ? older.next : (top.data?.next ?? null);

  async function readMore() {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      const page = await client.events(device, { limit: PAGE, cursor: next });
      setOlder({ items: [...(known ?? []), ...page.items], next: page.next });
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  }

  return {
    events: known,
    problem: problem ?? top.problem,
    reload: problem ? readMore : top.reload,
    more: next === null ? null : readMore,
    busy,
  };
}

/**
 * The events of a range of time.
 *
 * @param device id
 * @param window epoch ms; a live one goes on
 * @param newest time of the newest event known: when it changes, there is something new
 */
export function useEventsOf(
  device: string,
  { live, from, to }: { live: boolean; from: number; to: number },
  newest: string | null,
) {
  const { client } = useServices();
  const range = { from: Math.floor(from), ...(live ? {} : { to: Math.ceil(to) }) };
  const { data } = useQuery(JSON.stringify([device, live ? to - from : range, newest]), async (signal) => {
    const [page, before] = await Promise.all([
      client.events(device, { ...range, limit: MOST_IN_RANGE }, signal),
      client.events(device, { to: range.from, limit: PAGE }, signal),
    ]);
    return summaryOf(page, before.items, range);
  });
  return data;
}

/** Interval of requests, in ms: that of the heartbeats of processes. */
const REFRESH_UNWATCHED = { refreshMs: 10_000 };

/**
 * The time in which no process watched.
 *
 * @param window epoch ms; a live one goes on
 * @returns null before the first answer. While another window is read, that of the window before
 */
export function useUnwatched({
  live,
  from,
  to,
}: {
  live: boolean;
  from: number;
  to: number;
}): UnwatchedRecord | null {
  const { client } = useServices();
  const range = { from: Math.floor(from), ...(live ? {} : { to: Math.ceil(to) }) };
  const { data } = useQuery(
    JSON.stringify(live ? to - from : range),
    async (signal) => recordOf(await client.unwatched(range, signal), range),
    live ? REFRESH_UNWATCHED : {},
  );
  return data;
}

/** The time that was read, in epoch ms. It may be less than the picture shows. */
export interface ReadTime {
  from: number;
  /** infinite: it goes on */
  to: number;
}

/** Outside of the time that was read, nobody knows whether a process watched. */
export interface UnwatchedRecord {
  /** oldest first */
  spans: Unwatched[];
  read: ReadTime;
}

/** @param range epoch ms that was asked about; without `to` it goes on */
export const recordOf = (
  { items }: Pick<UnwatchedTime, 'items'>,
  { from, to = Number.POSITIVE_INFINITY }: { from: number; to?: number | undefined },
): UnwatchedRecord => ({
  spans: items.map((item) => ({ from: Date.parse(item.from), to: Date.parse(item.to) })),
  read: { from, to },
});

/**
 * Summarizes the events of a range.
 *
 * @param before the newest events before the range
 * @param range epoch ms; without `to` it goes on
 */
export function summaryOf(
  { items, next }: Page<DeviceEvent>,
  before: DeviceEvent[],
  range: { from: number; to?: number | undefined },
) {
  const cut = next !== null;
  const onlineSince = cut ? null : onlineAfter(before);
  const read: ReadTime = { from: onlineSince ?? range.from, to: range.to ?? Number.POSITIVE_INFINITY };
  return {
    events: items,
    /** The time since the device was online when the range began. */
    onlineSince,
    /** Epoch ms before which nothing is known, since there is too much. */
    knownFrom: cut ? Date.parse(items.at(-1)?.ts ?? '') : null,
    read,
  };
}
