import { useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { joined, onlineAfter, readNews } from './device-events.js';
import { useParts } from './hooks.js';
import { useQuery } from './use-query.js';

/** @import { Problem } from '../api/problem.js' */
/** @import { DeviceEvent, Page } from '../api/types.js' */

const PAGE = 20;
/** More of one range are no help in a picture. */
const MOST_IN_RANGE = 1000;
/** What is new is found by asking again. */
const REFRESH = { refreshMs: 4_000 };

/**
 * What became of a device, newest first, page by page; a new event comes by itself.
 *
 * @param {string} device id
 */
export function useDeviceEvents(device) {
  const { client } = useParts();
  const [older, setOlder] = useState(/** @type {Page<DeviceEvent> | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const [busy, setBusy] = useState(false);
  const top = useQuery(
    device,
    async (signal) => {
      const page = (/** @type {string | null} */ cursor) =>
        client.events(device, { limit: PAGE, cursor }, signal);
      const news = await readNews(page, older?.items ?? []);
      // Too much came at once: the list begins anew, rather than with a hole in it.
      setOlder((now) => now && (news.meets ? { ...now, items: joined(news.items, now.items) } : null));
      return news;
    },
    REFRESH,
  );
  const known = top.data ? joined(top.data.items, older?.items ?? []) : null;
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
 * The events of a stretch of time.
 *
 * @param {string} device id
 * @param {{ live: boolean, from: number, to: number }} window epoch ms; a live one goes on
 * @param {string | null} newest time of the newest event known: when it changes, there is something new
 */
export function useEventsOf(device, { live, from, to }, newest) {
  const { client } = useParts();
  const range = { from: Math.floor(from), ...(live ? {} : { to: Math.ceil(to) }) };
  const { data } = useQuery(JSON.stringify([device, live ? to - from : range, newest]), async (signal) => {
    const [page, before] = await Promise.all([
      client.events(device, { ...range, limit: MOST_IN_RANGE }, signal),
      client.events(device, { to: range.from, limit: PAGE }, signal),
    ]);
    return summaryOf(page, before.items);
  });
  return data;
}

/**
 * @param {Page<DeviceEvent>} page
 * @param {DeviceEvent[]} before the newest ones before the range
 */
function summaryOf({ items, next }, before) {
  const cut = next !== null;
  return {
    events: items,
    /** Since when it had been online as the range began. */
    onlineSince: cut ? null : onlineAfter(before),
    /** Epoch ms before which nothing is known, since there is too much. */
    knownFrom: cut ? Date.parse(items.at(-1)?.ts ?? '') : null,
  };
}
