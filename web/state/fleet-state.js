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

/** The devices that are offline are read this often, in ms. */
const REFRESH = { refreshMs: 10_000 };
/** Pages of a thousand: as many devices as the wall has sensors at most. */
const MOST_PAGES = 20;

/**
 * The state of the fleet by the stream and by the API's count. Only components that subscribe are redrawn.
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
 * @returns {FleetInfo | null} the API's count alone; a change redraws
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
 * @typedef {object} FleetState figures of one moment
 * @property {Outliers} outliers
 * @property {FleetInfo | null} info the API's own count, of the same time as the offline devices in `outliers`
 * @property {number} now epoch ms
 */

/** No sensor counts as silent for this long after a connect, in ms, since the snapshot is still coming. */
const CATCHING_UP_MS = 3000;

/**
 * The outliers of the fleet, updated once a second, with the API's count. While the connection is lost, and until the next snapshot
 * is complete, the last state stays. Otherwise old and new figures would be mixed.
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
