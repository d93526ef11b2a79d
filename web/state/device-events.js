/**
 * What became of a device, worked out from its events as the API gives them: the newest session first, of a session the last event
 * first.
 *
 *
 * @typedef {object} Span online without a break
 * @property {number} from epoch ms
 * @property {number | null} to epoch ms; null: still
 *
 * @typedef {object} Listed an event, and what follows from those around it
 * @property {DeviceEvent['kind']} kind
 * @property {number} ts epoch ms
 * @property {number | null} onlineFrom of `offline`: since when it had been online; null: not known
 */

/** @import { DeviceEvent, Page } from '../api/types.js' */

/** @param {DeviceEvent[]} newest first @returns {Listed[]} the same, in the same order */
export function listed(newest) {
  return newest.map(({ kind, ts }, index) => ({
    kind,
    ts: Date.parse(ts),
    onlineFrom: kind === 'offline' ? onlineBefore(newest, index) : null,
  }));
}

/**
 * @param {DeviceEvent[]} newest
 * @param {number} index of an `offline`
 * @returns {number | null} epoch ms; sessions that followed each other without an `offline` count as one
 */
function onlineBefore(newest, index) {
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
 * @param {DeviceEvent[]} newest first
 * @param {number | null} since epoch ms from which the events are complete, if it was online then; null: it was not, or nobody knows
 * @returns {Span[]} oldest first
 */
export function onlineSpans(newest, since) {
  /** @type {Span[]} */
  const spans = since === null ? [] : [{ from: since, to: null }];
  for (const { kind, ts } of newest.toReversed()) {
    const last = spans.at(-1);
    const isOpen = last?.to === null;
    if (kind === 'online' && !isOpen) {
      // An end is stamped when it was heard of: that may be after the next beginning.
      if (last) last.to = Math.min(last.to ?? 0, Date.parse(ts));
      spans.push({ from: Date.parse(ts), to: null });
    }
    if (kind === 'offline' && last && isOpen) last.to = Math.max(Date.parse(ts), last.from);
  }
  return spans;
}

/**
 * @param {DeviceEvent[]} newest first, all of them before an instant
 * @returns {number | null} epoch ms since when it was online at that instant; null: it was not, or nobody knows
 */
export function onlineAfter(newest) {
  // A birth may come again at any time, and says nothing of it.
  const last = newest.find(({ kind }) => kind !== 'birth');
  return last?.kind === 'online' ? Date.parse(last.ts) : null;
}

/**
 * @param {Span[]} spans oldest first
 * @param {number} ts epoch ms
 * @returns {Span | null} the one that holds it
 */
export const spanAt = (spans, ts) =>
  spans.findLast(({ from, to }) => from <= ts && (to === null || ts < to)) ?? null;

/**
 * Pages that were read one after the other, while new events came on top.
 *
 * @param {DeviceEvent[]} top the newest page, as it is now
 * @param {DeviceEvent[]} older what was read before
 * @returns {DeviceEvent[]} each event once
 */
export function joined(top, older) {
  const seen = new Set(top.map(keyOf));
  return [...top, ...older.filter((event) => !seen.has(keyOf(event)))];
}

/** More pages at once are too many to be waited for. */
const MOST_PAGES = 10;

/**
 * What is new: page after page, down to an event that is known already.
 *
 * @param {(cursor: string | null) => Promise<Page<DeviceEvent>>} read a page, newest first
 * @param {DeviceEvent[]} known newest first; none: one page is enough
 * @returns {Promise<Page<DeviceEvent> & { meets: boolean }>} `meets`: between these and those known nothing is missing
 */
export async function readNews(read, known) {
  const seen = new Set(known.map(keyOf));
  let { items, next } = await read(null);
  let meets = items.some((event) => seen.has(keyOf(event)));
  for (let pages = 1; seen.size > 0 && !meets && next !== null && pages < MOST_PAGES; pages += 1) {
    const page = await read(next);
    meets = page.items.some((event) => seen.has(keyOf(event)));
    items = [...items, ...page.items];
    next = page.next;
  }
  return { items, next, meets };
}

/** @param {DeviceEvent} event */
const keyOf = ({ ts, kind }) => `${ts} ${kind}`;

/**
 * @param {DeviceEvent[]} newest first
 * @param {number} ts epoch ms
 * @returns {DeviceEvent['kind'][]} what happened at that very instant, in its order
 */
export const happenedAt = (newest, ts) =>
  newest
    .filter((event) => Date.parse(event.ts) === ts)
    .map(({ kind }) => kind)
    .reverse();
