import type { ReadonlySignal } from '@preact/signals';
import { signal, useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import type { StreamStatus } from '../api/stream.ts';
import type { DeviceItem, FleetInfo, Page } from '../api/types.ts';
import type { Fleet } from './fleet.ts';
import { useQuery, useServices } from './hooks.ts';
import type { Faults } from './outliers.ts';
import { useStale } from './verdict.ts';

/** The devices that are offline are read this often, in ms. */
const REFRESH = { refreshMs: 10_000 };
/** Devices of one page, and pages: as many devices as the wall has sensors at most. */
const PAGE = 1000;
const MOST_PAGES = 20;

/** The state of the fleet by the stream and by the API's count. Only components that subscribe are redrawn. */
export function useFleetState(): ReadonlySignal<FleetState> {
  const { client, live, clock, vocabulary } = useServices();
  const [fleetState] = useState(() => createFleetState({ fleet: live.fleet, status: live.status, clock }));
  useQuery(
    'fleet',
    async (signal) => {
      const info = await client.fleet(signal);
      vocabulary.learn(typesAndSites(info));
      const offline = info.devices.offline > 0 ? await offlineDevices(client, signal) : NONE_OFFLINE;
      fleetState.count(info, offline);
      if (live.fleet.isOutdated()) live.readAgain();
      live.notifyWatchers();
      return info;
    },
    REFRESH,
  );
  const since = useStale()?.since ?? null;
  useEffect(() => fleetState.noteStale(since), [fleetState, since]);
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

/** @returns the API's count alone; a change redraws */
export function useFleetInfo(fleetState: ReadonlySignal<FleetState>): FleetInfo | null {
  return useComputed(() => fleetState.value.info).value;
}

/** @returns every type and site that there is */
const typesAndSites = ({ by_type, by_site }: FleetInfo): { type: string | null; site: string | null }[] => [
  ...Object.keys(by_type).map((type) => ({ type, site: null })),
  ...Object.keys(by_site).map((site) => ({ type: null, site })),
];

/** The devices that are offline, by id. `isWhole`: no other one is. */
type OfflineDevices = { devices: ReadonlyMap<string, DeviceItem>; isWhole: boolean };

const NONE_OFFLINE: OfflineDevices = { devices: new Map(), isWhole: true };

/** Reads them page by page. A page may be short: the API looks at a bounded number of devices for each. */
export async function offlineDevices(
  client: Pick<Client, 'devices'>,
  signal?: AbortSignal,
): Promise<OfflineDevices> {
  const devices: Map<string, DeviceItem> = new Map();
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer: Page<DeviceItem> = await client.devices({ state: 'offline', limit: PAGE, cursor }, signal);
    for (const device of answer.items) devices.set(device.device_id, device);
    cursor = answer.next;
    if (cursor === null) break;
  }
  return { devices, isWhole: cursor === null };
}

/** The figures of the fleet at one moment. */
export interface FleetState {
  faults: Faults;
  /** the API's own count, of the same time as the offline devices in `faults` */
  info: FleetInfo | null;
  /** epoch ms */
  now: number;
}

/** No sensor counts as silent for this long after a connect, in ms, since the snapshot is still coming. */
const CATCHING_UP_MS = 3000;

/**
 * The outliers of the fleet, updated once a second, with the API's count. While the connection is lost, and until the next snapshot
 * is complete, the last state stays. Otherwise old and new figures would be mixed. While nothing is stored, silence is judged as of the last
 * moment with values, so no sensor turns silent by the outage.
 */
export function createFleetState({
  fleet,
  status,
  clock,
}: {
  fleet: Fleet;
  status: ReadonlySignal<StreamStatus>;
  clock: { time: { peek: () => number }; now: () => number };
}) {
  const figures = signal<FleetState>({ faults: fleet.listFaults(), info: null, now: clock.time.peek() });
  let info: FleetInfo | null = null;
  let offline = NONE_OFFLINE.devices;
  let liveSince = Number.POSITIVE_INFINITY;
  let isHeld = false;
  /** epoch ms since when nothing is stored, and until the waiting messages had time to arrive */
  let staleSince: number | null = null;
  let staleUntil = Number.NEGATIVE_INFINITY;

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
    if (now > staleUntil) staleSince = null;
    fleet.refreshSilence(isCaughtUp ? Math.min(now, staleSince ?? now) : 0);
    figures.value = { faults: withEmptyDevices(fleet.listFaults(), offline, fleet), info, now };
  }

  return {
    figures,
    update,
    noteStatus,

    /** @param since epoch ms since when no values come; null: they come */
    noteStale(since: number | null) {
      if (since !== null) staleSince ??= since;
      staleUntil = since === null ? clock.now() + CATCHING_UP_MS : Number.POSITIVE_INFINITY;
    },

    count(counted: FleetInfo, away: OfflineDevices) {
      if (status.peek() === 'reconnecting' || (staleSince !== null && info !== null)) return;
      info = withCount(counted, away);
      offline = away.devices;
      fleet.setOffline(new Set(offline.keys()));
      fleet.expect(counted.sensors);
      update();
    },
  };
}

/**
 * Adds devices without sensors, of which the stream knows nothing. So the list of offline devices is as long as the API's count.
 *
 * @param offline by id
 */
function withEmptyDevices(
  faults: Faults,
  offline: ReadonlyMap<string, DeviceItem>,
  { devices }: Pick<Fleet, 'devices'>,
): Faults {
  const unknown = [...offline.values()].filter(({ device_id }) => !devices.has(device_id));
  if (unknown.length === 0) return faults;
  const added = unknown.map(({ device_id: id, name, site }) => ({
    id,
    name: name ?? id,
    site,
    offline: true,
    sensors: [],
    isInOrder: true,
  }));
  return { ...faults, offline: [...faults.offline, ...added] };
}

/**
 * The API counts every ten seconds, so its list of offline devices is newer. One number is shown everywhere. A
 * list that was cut counts too few.
 */
function withCount(info: FleetInfo, { devices, isWhole }: OfflineDevices): FleetInfo {
  if (!isWhole) return info;
  const offline = devices.size;
  return { ...info, devices: { online: Math.max(deviceCount(info) - offline, 0), offline } };
}

/** @returns null: unknown, since not all sensors are followed */
export function sensorsOnline(
  { faults, info }: Pick<FleetState, 'faults' | 'info'>,
  fleet: Pick<Fleet, 'holdsAll'>,
): number | null {
  if (info === null || !fleet.holdsAll()) return null;
  return Math.max(0, info.sensors - faults.offlineSensors - faults.silentCount);
}

/** @returns devices of the fleet, online or not */
export const deviceCount = ({ devices }: Pick<FleetInfo, 'devices'>): number =>
  devices.online + devices.offline;
