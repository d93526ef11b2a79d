import { useEffect, useState } from 'preact/hooks';
import { useServices } from './hooks.js';
import { createObservable } from './observable.js';
import { useQuery } from './use-query.js';

/** @import { Client } from '../api/client.js' */
/** @import { DeviceItem, FleetInfo, Page } from '../api/types.js' */
/** @import { Fleet } from './fleet.js' */
/** @import { Observable } from './observable.js' */
/** @import { Outliers } from './outliers.js' */
/** @import { StreamStatus } from '../api/stream.js' */

/** Which devices are offline is asked this often, in ms, while anybody looks. */
const REFRESH = { refreshMs: 10_000 };
/** Pages of a thousand: as many devices as the wall has sensors at most. */
const MOST_PAGES = 20;

/**
 * How the fleet is, by what the stream tells and by the API's count: who shows it subscribes, nobody else is drawn anew.
 *
 * @returns {Observable<FleetState>}
 */
export function useFleetState() {
  const { client, live, clock, vocabulary } = useServices();
  const [fleetState] = useState(() => createFleetState({ fleet: live.fleet, status: live.status, clock }));
  useQuery(
    'fleet',
    async (signal) => {
      const info = await client.fleet(signal);
      vocabulary.learn(wordsOf(info));
      const ids = info.devices.offline > 0 ? await offlineDevices(client, signal) : new Set();
      fleetState.count(info, ids);
      live.notifyWatchers();
      return info;
    },
    REFRESH,
  );
  useEffect(() => {
    fleetState.noteStatus();
    const update = () => {
      fleetState.update();
      live.notifyWatchers();
    };
    const endings = [live.status.subscribe(fleetState.noteStatus), clock.subscribe(update)];
    return () => {
      for (const end of endings) end();
    };
  }, [live, clock, fleetState]);
  return fleetState.observable;
}

/**
 * @param {Observable<FleetState>} fleetState
 * @returns {FleetInfo | null} the API's count alone: draws anew when that changes
 */
export function useFleetInfo(fleetState) {
  const [info, setInfo] = useState(fleetState.get().info);
  useEffect(() => {
    const note = () => setInfo(fleetState.get().info);
    note();
    return fleetState.subscribe(note);
  }, [fleetState]);
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
 * @typedef {object} FleetState what is shown together, of one moment
 * @property {Outliers} outliers
 * @property {FleetInfo | null} info the API's own count, as old as the devices that the outliers calls offline
 * @property {number} now epoch ms
 */

/** So long after the connection is there, nobody is called silent: the snapshot is still coming. In ms. */
const CATCHING_UP_MS = 3000;

/**
 * What there is to say of the fleet, anew each second, with the API's count of it. From the moment that the connection is lost until all
 * is isRequested anew, the last of it stands: half of it would be of then and half of now.
 *
 * @param {object} deps
 * @param {Fleet} deps.fleet
 * @param {Observable<StreamStatus>} deps.status
 * @param {{ get: () => number, now: () => number }} deps.clock
 */
export function createFleetState({ fleet, status, clock }) {
  const observable = createObservable(
    /** @type {FleetState} */ ({ outliers: fleet.findOutliers(0), info: null, now: clock.get() }),
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

  function update() {
    const now = clock.get();
    const isCaughtUp = now - liveSince > CATCHING_UP_MS;
    if (isCaughtUp) isHeld = false;
    if (isHeld) return;
    observable.set({ outliers: fleet.findOutliers(isCaughtUp ? now : 0), info, now });
  }

  return {
    observable,
    update,
    noteStatus,

    /** @param {FleetInfo} counted @param {ReadonlySet<string>} offline ids of devices */
    count(counted, offline) {
      if (status.get() === 'reconnecting') return;
      info = counted;
      fleet.setOffline(offline);
      update();
    },
  };
}
