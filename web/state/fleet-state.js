import { useEffect, useState } from 'preact/hooks';
import { useParts } from './hooks.js';
import { useQuery } from './use-query.js';
import { createReviewing } from './reviewing.js';

/** @import { Client } from '../api/client.js' */
/** @import { DeviceItem, FleetInfo, Page } from '../api/types.js' */
/** @import { Observable } from './observable.js' */
/** @import { Reviewed } from './reviewing.js' */

/** Which devices are offline is asked this often, in ms, while anybody looks. */
const REFRESH = { refreshMs: 10_000 };
/** Pages of a thousand: as many devices as the wall has sensors at most. */
const MOST_PAGES = 20;

/**
 * How the fleet is, by what the stream tells and by the API's count: who shows it subscribes, nobody else is drawn anew.
 *
 * @returns {Observable<Reviewed>}
 */
export function useFleetState() {
  const { client, live, clock, vocabulary } = useParts();
  const [reviewing] = useState(() => createReviewing({ fleet: live.fleet, status: live.status, clock }));
  useQuery(
    'fleet',
    async (signal) => {
      const info = await client.fleet(signal);
      vocabulary.learn(wordsOf(info));
      const ids = info.devices.offline > 0 ? await offlineDevices(client, signal) : new Set();
      reviewing.count(info, ids);
      live.tellWatchers();
      return info;
    },
    REFRESH,
  );
  useEffect(() => {
    reviewing.noteStatus();
    const look = () => {
      reviewing.look();
      live.tellWatchers();
    };
    const endings = [live.status.subscribe(reviewing.noteStatus), clock.subscribe(look)];
    return () => {
      for (const end of endings) end();
    };
  }, [live, clock, reviewing]);
  return reviewing.reviewed;
}

/**
 * @param {Observable<Reviewed>} reviewed
 * @returns {FleetInfo | null} the API's count alone: draws anew when that changes
 */
export function useFleetInfo(reviewed) {
  const [info, setInfo] = useState(reviewed.get().info);
  useEffect(() => {
    const note = () => setInfo(reviewed.get().info);
    note();
    return reviewed.subscribe(note);
  }, [reviewed]);
  return info;
}

/** @param {FleetInfo} info @returns {{ type: string | null, site: string | null }[]} every type and site that there is */
const wordsOf = ({ by_type, by_site }) => [
  ...Object.keys(by_type).map((type) => ({ type, site: null })),
  ...Object.keys(by_site).map((site) => ({ type: null, site })),
];

/** @param {Client} client @param {AbortSignal} signal @returns {Promise<Set<string>>} ids */
async function offlineDevices(client, signal) {
  /** @type {Set<string>} */
  const ids = new Set();
  /** @type {string | null} */
  let cursor = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    /** @type {Page<DeviceItem>} */
    const answer = await client.devices({ state: 'offline', limit: 1000, cursor }, signal);
    for (const { device_id } of answer.items) ids.add(device_id);
    cursor = answer.next;
    if (cursor === null) break;
  }
  return ids;
}
