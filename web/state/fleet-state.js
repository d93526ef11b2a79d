import { useEffect, useState } from 'preact/hooks';
import { useServices } from './hooks.js';
import { createObservable } from './observable.js';
import { useQuery } from './use-query.js';

/** @import { Client } from '../api/client.js' */
/** @import { DeviceItem, FleetInfo, Page } from '../api/types.js' */
/** @import { Fleet } from './fleet.js' */
/** @import { Observable } from './observable.js' */
/** @import { Review } from './fleet-types.js' */
/** @import { StreamStatus } from '../api/stream.js' */

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
  const { client, live, clock, vocabulary } = useServices();
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

/**
 * @typedef {object} Reviewed what is shown together, of one moment
 * @property {Review} review
 * @property {FleetInfo | null} info the API's own count, as old as the devices that the review calls offline
 * @property {number} now epoch ms
 */

/** So long after the connection is there, nobody is called silent: the snapshot is still coming. In ms. */
const CATCHING_UP_MS = 3000;

/**
 * What there is to say of the fleet, anew each second, with the API's count of it. From the moment that the connection is lost until all
 * is told anew, the last of it stands: half of it would be of then and half of now.
 *
 * @param {object} deps
 * @param {Fleet} deps.fleet
 * @param {Observable<StreamStatus>} deps.status
 * @param {{ get: () => number, now: () => number }} deps.clock
 */
export function createReviewing({ fleet, status, clock }) {
  const reviewed = createObservable(
    /** @type {Reviewed} */ ({ review: fleet.review(0), info: null, now: clock.get() }),
  );
  /** @type {FleetInfo | null} */
  let info = null;
  let liveSince = Number.POSITIVE_INFINITY;
  let isHeld = false;

  function noteStatus() {
    if (status.get() === 'reconnecting') isHeld = true;
    if (status.get() !== 'live') liveSince = Number.POSITIVE_INFINITY;
    else if (liveSince === Number.POSITIVE_INFINITY) liveSince = clock.now();
  }

  function look() {
    const now = clock.get();
    const isCaughtUp = now - liveSince > CATCHING_UP_MS;
    if (isCaughtUp) isHeld = false;
    if (isHeld) return;
    reviewed.set({ review: fleet.review(isCaughtUp ? now : 0), info, now });
  }

  return {
    reviewed,
    look,
    noteStatus,

    /** @param {FleetInfo} counted @param {ReadonlySet<string>} offline ids of devices */
    count(counted, offline) {
      if (status.get() === 'reconnecting') return;
      info = counted;
      fleet.setOffline(offline);
      look();
    },
  };
}
