import { useEffect, useState } from 'preact/hooks';
import { useParts } from '../state/hooks.js';
import { createObservable } from '../state/observable.js';
import { useQuery } from '../state/use-query.js';

/** Which devices are offline is asked this often, in ms, while anybody looks. */
const REFRESH = { refreshMs: 10_000 };
/** Pages of a thousand: as many devices as the wall has sensors at most. */
const MOST_PAGES = 20;
/** So long after the connection is there, nobody is called silent: the snapshot is still coming. In ms. */
const CATCHING_UP_MS = 3000;

/**
 * How many there are, by the API's count, and which devices are offline, told to the fleet.
 *
 * @returns {import('../api/types.js').FleetInfo | null}
 */
export function useFleetInfo() {
  const { client, live, vocabulary } = useParts();
  const { data } = useQuery(
    'fleet',
    async (signal) => {
      const info = await client.fleet(signal);
      vocabulary.learn(wordsOf(info));
      const ids = info.devices.offline > 0 ? await offlineDevices(client, signal) : new Set();
      live.fleet.setOffline(ids);
      live.tellWatchers();
      return info;
    },
    REFRESH,
  );
  return data;
}

/** @param {import('../api/types.js').FleetInfo} info @returns {{ type: string | null, site: string | null }[]} every type and site that there is */
const wordsOf = ({ by_type, by_site }) => [
  ...Object.keys(by_type).map((type) => ({ type, site: null })),
  ...Object.keys(by_site).map((site) => ({ type: null, site })),
];

/** @param {import('../api/client.js').Client} client @param {AbortSignal} signal @returns {Promise<Set<string>>} ids */
async function offlineDevices(client, signal) {
  /** @type {Set<string>} */
  const ids = new Set();
  /** @type {string | null} */
  let cursor = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    /** @type {import('../api/types.js').Page<import('../api/types.js').DeviceItem>} */
    const answer = await client.devices({ state: 'offline', limit: 1000, cursor }, signal);
    for (const { device_id } of answer.items) ids.add(device_id);
    cursor = answer.next;
    if (cursor === null) break;
  }
  return ids;
}

/** @typedef {{ review: import('../state/fleet.js').Review, now: number }} Reviewed `now`: epoch ms */

/** @returns {import('../state/observable.js').Observable<Reviewed>} anew each second: who shows it subscribes, nobody else is drawn anew */
export function useReview() {
  const { live, clock } = useParts();
  const [reviewed] = useState(() => createObservable({ review: live.fleet.review(0), now: clock.get() }));
  useEffect(() => {
    let liveSince = Number.POSITIVE_INFINITY;
    const noteStatus = () => {
      liveSince = live.status.get() === 'live' ? clock.now() : Number.POSITIVE_INFINITY;
    };
    noteStatus();
    const look = () => {
      const now = clock.get();
      const caughtUp = now - liveSince > CATCHING_UP_MS;
      reviewed.set({ review: live.fleet.review(caughtUp ? now : 0), now });
      live.tellWatchers();
    };
    const endings = [live.status.subscribe(noteStatus), clock.subscribe(look)];
    return () => {
      for (const end of endings) end();
    };
  }, [live, clock, reviewed]);
  return reviewed;
}
