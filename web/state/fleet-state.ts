import type { ReadonlySignal } from '@preact/signals';
import { signal, useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import type { StreamStatus } from '../api/stream/index.ts';
import type { DeviceItem, FleetInfo } from '../api/types.ts';
import type { Faults } from './cells.ts';
import type { Fleet } from './fleet.ts';
import { useQuery, useServices } from './hooks.ts';
import { fillPage } from './lists.ts';
import { useStale } from './verdict.ts';

/** Interval of reading the offline devices, in ms. */
const REFRESH = { refreshMs: 10_000 };
const PAGE = 1000;
/** Equal to the maximum number of sensors on the wall. */
const MOST_DEVICES = 20_000;

export function useFleetState(): ReadonlySignal<FleetState> {
  const { client, live, clock, vocabulary } = useServices();
  const [fleetState] = useState(() => createFleetState({ fleet: live.fleet, status: live.status, clock }));
  useQuery(
    'fleet',
    async (signal) => {
      const info = await client.fleet(signal);
      vocabulary.learn(typesAndSites(info));
      fleetState.count(info, await awayDevices(client, info, signal));
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

export function useFleetInfo(fleetState: ReadonlySignal<FleetState>): FleetInfo | null {
  return useComputed(() => fleetState.value.info).value;
}

const typesAndSites = ({ by_type, by_site }: FleetInfo): { type: string | null; site: string | null }[] => [
  ...Object.keys(by_type).map((type) => ({ type, site: null })),
  ...Object.keys(by_site).map((site) => ({ type: null, site })),
];

const AWAY_STATES = ['offline', 'not_live'] as const;

/** The devices that are not online, by id. `isWhole`: the list is complete */
type AwayDevices = { devices: ReadonlyMap<string, DeviceItem>; isWhole: boolean };

/** Reads the devices that are not online page by page. A page may be short, because the API checks a limited number of devices for each page. */
export async function awayDevices(
  client: Pick<Client, 'devices'>,
  { devices: counts }: Pick<FleetInfo, 'devices'>,
  signal?: AbortSignal,
): Promise<AwayDevices> {
  const devices: Map<string, DeviceItem> = new Map();
  let isWhole = true;
  for (const state of AWAY_STATES) {
    if (counts[state] === 0) continue;
    const page = await fillPage<DeviceItem>({
      cursor: null,
      limit: MOST_DEVICES,
      ask: ({ cursor }) => client.devices({ state, limit: PAGE, cursor }, signal),
    });
    for (const device of page.items) devices.set(device.device_id, device);
    isWhole &&= page.next === null;
  }
  return { devices, isWhole };
}

export interface FleetState {
  faults: Faults;
  /** numbers of devices and sensors that the API counted, from the same time as the offline devices in `faults` */
  info: FleetInfo | null;
  now: number;
}

/** Time in ms after a connect in which no sensor counts as silent, because the snapshot of the fleet is still arriving. */
const CATCHING_UP_MS = 3000;

/**
 * From a lost connection until the next snapshot is complete, the last state stays, because old and new figures would mix.
 * While nothing is stored, silence is judged as of the last moment with values.
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
  let away: AwayDevices['devices'] = new Map();
  let liveSince = Number.POSITIVE_INFINITY;
  let isHeld = false;
  /** Time in epoch ms since when nothing is stored. It is reset only after the waiting messages had time to arrive. */
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
    figures.value = { faults: withEmptyDevices(fleet.listFaults(), away, fleet), info, now };
  }

  return {
    figures,
    update,
    noteStatus,

    /** @param since time in epoch ms since when no values arrive; null: values arrive */
    noteStale(since: number | null) {
      if (since !== null) staleSince ??= since;
      staleUntil = since === null ? clock.now() + CATCHING_UP_MS : Number.POSITIVE_INFINITY;
    },

    count(counted: FleetInfo, read: AwayDevices) {
      if (status.peek() === 'reconnecting' || (staleSince !== null && info !== null)) return;
      info = withCount(counted, read);
      away = read.devices;
      fleet.setPresence(new Map(Array.from(away, ([id, { state }]) => [id, state])));
      fleet.expect(counted.sensors);
      update();
    },
  };
}

/** Adds offline devices without sensors, which the event stream does not contain, so that the list matches the count of the API. */
function withEmptyDevices(
  faults: Faults,
  away: ReadonlyMap<string, DeviceItem>,
  { devices }: Pick<Fleet, 'devices'>,
): Faults {
  const unknown = [...away.values()].filter(
    ({ device_id, state }) => state === 'offline' && !devices.has(device_id),
  );
  if (unknown.length === 0) return faults;
  const added = unknown.map(({ device_id: id, name, site }) => ({
    id,
    name: name ?? id,
    site,
    presence: 'offline' as const,
    sensors: [],
    isInOrder: true,
  }));
  return { ...faults, offline: [...faults.offline, ...added] };
}

/** The list of devices that are not online is newer than the counts of the API. An incomplete list would count too few. */
function withCount(info: FleetInfo, { devices, isWhole }: AwayDevices): FleetInfo {
  if (!isWhole) return info;
  const offline = [...devices.values()].filter(({ state }) => state === 'offline').length;
  const not_live = devices.size - offline;
  return { ...info, devices: { online: Math.max(deviceCount(info) - devices.size, 0), offline, not_live } };
}

/** @returns null: the number is unknown, because the page does not follow all sensors */
export function sensorsOnline(
  { faults, info }: Pick<FleetState, 'faults' | 'info'>,
  fleet: Pick<Fleet, 'holdsAll'>,
): number | null {
  if (info === null || !fleet.holdsAll()) return null;
  return Math.max(0, info.sensors - faults.offlineSensors - faults.notLiveSensors - faults.silentCount);
}

export const deviceCount = ({ devices }: Pick<FleetInfo, 'devices'>): number =>
  devices.online + devices.offline + devices.not_live;
