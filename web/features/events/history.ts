import { useState } from 'preact/hooks';
import type { Problem } from '../../api/request.ts';
import { toProblem } from '../../api/request.ts';
import type { DeviceEvent, Page, UnwatchedTime } from '../../api/types.ts';
import { useQuery, useServices } from '../../state/hooks.ts';

// Computes the history of a device from its events in the order of the API: newest session first, and within a session
// the last event first.

/** A period in which a device was online without a break. */
export interface OnlineSpan {
  from: number;
  /** end in epoch ms; null: the device is still online */
  to: number | null;
}

/** A period in which no ingest process received samples, so the state of devices is unknown. */
export interface Unwatched {
  from: number;
  to: number;
}

/** An event with facts that follow from the events around it. */
export interface Listed {
  kind: DeviceEvent['kind'];
  /** time of the event in epoch ms */
  ts: number;
  /** clock of the device minus clock of the server in ms; null: unknown */
  clockOffset: number | null;
  /** for `offline`: time in epoch ms when the device had come online; null: unknown */
  onlineFrom: number | null;
}

/** @returns the events with derived facts, newest first */
export function listed(newest: DeviceEvent[]): Listed[] {
  return newest.map(({ kind, ts, clock_offset_ms }, index) => ({
    kind,
    ts: Date.parse(ts),
    clockOffset: clock_offset_ms ?? null,
    onlineFrom: kind === 'offline' ? onlineBefore(newest, index) : null,
  }));
}

/**
 * @returns time in epoch ms when the device had come online; sessions without an `offline` between them count as one session
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
 * Computes the periods in which a device was online.
 *
 * @param since time in epoch ms from which the events are complete, if the device was online then; null: offline or unknown
 * @returns periods, oldest first
 */
export function onlineSpans(newest: DeviceEvent[], since: number | null): OnlineSpan[] {
  const spans: OnlineSpan[] = since === null ? [] : [{ from: since, to: null }];
  for (const { kind, ts } of newest.toReversed()) {
    const last = spans.at(-1);
    const isOpen = last?.to === null;
    if (kind === 'online' && !isOpen) {
      // An `offline` event has the time of its receipt, which may lie after the start of the next session. So the period ends
      // at that start at the latest.
      if (last) last.to = Math.min(last.to ?? 0, Date.parse(ts));
      spans.push({ from: Date.parse(ts), to: null });
    }
    if (kind === 'offline' && last && isOpen) last.to = Math.max(Date.parse(ts), last.from);
  }
  return spans;
}

/**
 * @param newest all events before an instant, newest first
 * @returns time in epoch ms since when the device was online at that instant; null: offline or unknown
 */
export function onlineAfter(newest: DeviceEvent[]): number | null {
  // A birth message may arrive at any time, and does not change the state.
  const last = newest.find(({ kind }) => kind !== 'birth');
  return last?.kind === 'online' ? Date.parse(last.ts) : null;
}

/** @returns the online period that contains `ts` */
export const spanAt = (spans: OnlineSpan[], ts: number): OnlineSpan | null =>
  spans.findLast(({ from, to }) => from <= ts && (to === null || ts < to)) ?? null;

/** @returns whether no ingest process received samples at that instant */
export const isUnwatched = (unwatched: Unwatched[], ts: number): boolean =>
  unwatched.some(({ from, to }) => from <= ts && ts < to);

/**
 * Joins pages of events that were read one after the other while new events arrived.
 *
 * @returns the events of both, each event once
 */
export function mergeEvents(top: DeviceEvent[], older: DeviceEvent[]): DeviceEvent[] {
  const seen = new Set(top.map(eventKey));
  return [...top, ...older.filter((event) => !seen.has(eventKey(event)))];
}

/** Maximum number of pages read for one update. More pages would take too long, so the list then restarts. */
const MAX_PAGES = 10;

/**
 * Reads new events page by page, down to a known event.
 *
 * @param read reads a page, newest first
 * @param known known events, newest first; if there are none, one page is enough
 * @returns `meets`: no event is missing between the new and the known events
 */
export async function readNews(
  read: (cursor: string | null) => Promise<Page<DeviceEvent>>,
  known: DeviceEvent[],
): Promise<Page<DeviceEvent> & { meets: boolean }> {
  const seen = new Set(known.map(eventKey));
  let { items, next } = await read(null);
  let meets = items.some((event) => seen.has(eventKey(event)));
  for (let pages = 1; seen.size > 0 && !meets && next !== null && pages < MAX_PAGES; pages += 1) {
    const page = await read(next);
    meets = page.items.some((event) => seen.has(eventKey(event)));
    items = [...items, ...page.items];
    next = page.next;
  }
  return { items, next, meets };
}

const eventKey = ({ ts, kind }: DeviceEvent) => `${ts} ${kind}`;

/** @returns kinds of the events at exactly that instant, in order */
export const happenedAt = (newest: DeviceEvent[], ts: number): DeviceEvent['kind'][] =>
  newest
    .filter((event) => Date.parse(event.ts) === ts)
    .map(({ kind }) => kind)
    .reverse();

const PAGE = 20;
/** Maximum number of events read for a range. A chart cannot show more. */
const MAX_IN_RANGE = 1000;
/** Polling interval for new events, in ms. */
const REFRESH = { refreshMs: 4_000 };

/** Reads the events of a device in pages, newest first. New events appear automatically. */
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
      // If more events came at once than one update reads, the list restarts. Otherwise it would have a gap.
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
 * Reads the events of a device in a range of time.
 *
 * @param newest time of the newest known event; a change means that there are new events
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
      client.events(device, { ...range, limit: MAX_IN_RANGE }, signal),
      client.events(device, { to: range.from, limit: PAGE }, signal),
    ]);
    return summaryOf(page, before.items, range);
  });
  return data;
}

/** Interval of requests in ms, equal to the heartbeat interval of processes. */
const REFRESH_UNWATCHED = { refreshMs: 10_000 };

/**
 * Reads the periods in which no ingest process received samples.
 *
 * @returns null before the first answer; while a new window is read, the periods of the previous window
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

/** The time range that was read, in epoch ms. It may be shorter than the shown range. */
export interface ReadTime {
  from: number;
  /** end of the range; infinite: the range continues */
  to: number;
}

/** The periods without an ingest process within the range that was read. Outside of that range, they are unknown. */
export interface UnwatchedRecord {
  spans: Unwatched[];
  read: ReadTime;
}

/** @param range requested range in epoch ms; a range without `to` continues */
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
 * @param range range in epoch ms; a range without `to` continues
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
    /** Time in epoch ms since when the device was online, if it was online at the start of the range. */
    onlineSince,
    /** Time in epoch ms before which the events are unknown, because the range has too many events. */
    knownFrom: cut ? Date.parse(items.at(-1)?.ts ?? '') : null,
    read,
  };
}
