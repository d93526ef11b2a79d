import { signal, useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { useQuery, useServices } from './hooks.js';

/** @import { Client } from '../api/client.js' */
/** @import { DeviceItem, FleetInfo, Page } from '../api/types.js' */
/** @import { Fleet } from './fleet.js' */
/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { Outliers } from './outliers.js' */
/** @import { StreamStatus } from '../api/stream.js' */

/** The devices that are offline are read this often, in ms. */
const REFRESH = { refreshMs: 10_000 };
/** Devices of one page, and pages: as many devices as the wall has sensors at most. */
const PAGE = 1000;
const MOST_PAGES = 20;

/**
 * The state of the fleet by the stream and by the API's count. Only components that subscribe are redrawn.
 *
 * @returns {ReadonlySignal<FleetState>}
 */
export function useFleetState() {
  const { client, live, clock, vocabulary } = useServices();
  const [fleetState] = useState(() => createFleetState({ fleet: live.fleet, status: live.status, clock }));
  useQuery(
    'fleet',
    async (signal) => {
      const info = await client.fleet(signal);
      vocabulary.learn(wordsOf(info));
      const offline = info.devices.offline > 0 ? await offlineDevices(client, signal) : new Map();
      fleetState.count(info, offline);
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
    const endings = [live.status.subscribe(fleetState.noteStatus), clock.time.subscribe(update)];
    return () => {
      for (const end of endings) end();
    };
  }, [live, clock, fleetState]);
  return fleetState.figures;
}

/**
 * @param {ReadonlySignal<FleetState>} fleetState
 * @returns {FleetInfo | null} the API's count alone; a change redraws
 */
export function useFleetInfo(fleetState) {
  return useComputed(() => fleetState.value.info).value;
}

/** @param {FleetInfo} info @returns {{ type: string | null, site: string | null }[]} every type and site that there is */
const wordsOf = ({ by_type, by_site }) => [
  ...Object.keys(by_type).map((type) => ({ type, site: null })),
  ...Object.keys(by_site).map((site) => ({ type: null, site })),
];

/** @param {Client} client @param {AbortSignal} signal @returns {Promise<Map<string, DeviceItem>>} by id */
async function offlineDevices(client, signal) {
  /** @type {Map<string, DeviceItem>} */
  const offline = new Map();
  /** @type {string | null} */
  let cursor = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    /** @type {Page<DeviceItem>} */
    const answer = await client.devices({ state: 'offline', limit: PAGE, cursor }, signal);
    for (const device of answer.items) offline.set(device.device_id, device);
    cursor = answer.next;
    if (cursor === null) break;
  }
  return offline;
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
 * @param {ReadonlySignal<StreamStatus>} deps.status
 * @param {{ time: { peek: () => number }, now: () => number }} deps.clock
 */
export function createFleetState({ fleet, status, clock }) {
  const figures = signal(
    /** @type {FleetState} */ ({ outliers: fleet.findOutliers(0), info: null, now: clock.time.peek() }),
  );
  /** @type {FleetInfo | null} */
  let info = null;
  /** @type {ReadonlyMap<string, DeviceItem>} */
  let offline = new Map();
  let liveSince = Number.POSITIVE_INFINITY;
  let isHeld = false;

  function noteStatus() {
    if (status.peek() === 'reconnecting') isHeld = true;
    if (status.peek() !== 'live') liveSince = Number.POSITIVE_INFINITY;
    else if (liveSince === Number.POSITIVE_INFINITY) liveSince = clock.now();
  }

  function update() {
    const now = clock.time.peek();
    const isCaughtUp = now - liveSince > CATCHING_UP_MS;
    if (isCaughtUp) isHeld = false;
    if (isHeld) return;
    const outliers = fleet.findOutliers(isCaughtUp ? now : 0);
    figures.value = { outliers: withEmptyDevices(outliers, offline, fleet), info, now };
  }

  return {
    figures,
    update,
    noteStatus,

    /** @param {FleetInfo} counted @param {ReadonlyMap<string, DeviceItem>} away devices that are offline, by id */
    count(counted, away) {
      if (status.peek() === 'reconnecting') return;
      info = withCount(counted, away.size);
      offline = away;
      fleet.setOffline(new Set(away.keys()));
      fleet.expect(counted.sensors);
      update();
    },
  };
}

/**
 * Adds devices without sensors, of which the stream knows nothing. So the list of offline devices is as long as the API's count.
 *
 * @param {Outliers} outliers
 * @param {ReadonlyMap<string, DeviceItem>} offline by id
 * @param {Pick<Fleet, 'devices'>} fleet
 * @returns {Outliers}
 */
function withEmptyDevices(outliers, offline, { devices }) {
  const unknown = [...offline.values()].filter(({ device_id }) => !devices.has(device_id));
  if (unknown.length === 0) return outliers;
  const added = unknown.map(({ device_id: id, name, site }) => ({
    id,
    name: name ?? id,
    site,
    offline: true,
    sensors: [],
    isInOrder: true,
  }));
  return { ...outliers, offline: [...outliers.offline, ...added] };
}

/**
 * The API counts every ten seconds, so its list of offline devices is newer. One number is shown everywhere.
 *
 * @param {FleetInfo} info
 * @param {number} offline devices of the list
 * @returns {FleetInfo}
 */
function withCount(info, offline) {
  if (offline >= MOST_PAGES * PAGE) return info;
  const devices = info.devices.online + info.devices.offline;
  return { ...info, devices: { online: Math.max(devices - offline, 0), offline } };
}
