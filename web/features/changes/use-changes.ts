import { useRef, useState } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { createLimit } from '../../api/client.ts';
import { nullIfMissing } from '../../api/request.ts';
import { keyOf } from '../../api/stream/index.ts';
import type { DeviceItem, LatestItem, UnwatchedTime } from '../../api/types.ts';
import { createReader } from '../../chart/reader.ts';
import { deviceCount } from '../../state/fleet-state.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { useFiguresAlone } from '../../state/live.ts';
import type { Bins, ChangedDevice, ChangedSensor } from './rules.ts';
import { BIN_MS, cameOrWent, changeOf, HOUR_MS, HOURS_BEFORE, judgedFrom } from './rules.ts';

/** Maximum numbers of sensors and of devices whose history is read. */
const MOST_SENSORS = 100;
const MOST_DEVICES = 300;
const MOST_EVENTS = 50;
const AT_ONCE = 3;

export interface Changes {
  /** changed sensors, most changes first */
  sensors: ChangedSensor[];
  sensorsRead: number;
  /** number of sensors to read, at most `MOST_SENSORS`; null: not known yet */
  sensorsToRead: number | null;
  sensorsTotal: number;
  /** number of sensors that were read but have too little history to be judged */
  unjudged: number;
  /** earliest time in epoch ms at which one of these can be judged; null: unknown */
  judgedFrom: number | null;
  /** changed devices, newest change first */
  devices: ChangedDevice[];
  devicesRead: number;
  devicesToRead: number | null;
  devicesTotal: number;
  /** the periods of the last hour in which nothing was received */
  unwatched: UnwatchedTime['items'];
}

const NOTHING: Changes = {
  sensors: [],
  sensorsRead: 0,
  sensorsToRead: null,
  sensorsTotal: 0,
  unjudged: 0,
  judgedFrom: null,
  devices: [],
  devicesRead: 0,
  devicesToRead: null,
  devicesTotal: 0,
  unwatched: [],
};

const REFRESH = { refreshMs: 60_000 };

/**
 * Reads the changes in the fleet within the last hour, again each minute. During the first reading it returns what is known
 * already.
 */
export function useFleetChanges() {
  const { client, clock } = useServices();
  const [first, setFirst] = useState(NOTHING);
  const known = useRef(new Map<string, Bins>());
  useFiguresAlone();
  const { data, ...query } = useQuery(
    'changes',
    async (signal) => {
      const now = clock.now();
      const since = now - HOUR_MS;
      const careful = client.withLimit(createLimit(AT_ONCE));
      let found = NOTHING;
      const add = (more: Partial<Changes>) => {
        found = { ...found, ...more };
        if (!signal.aborted && data === null) setFirst(found);
      };
      await Promise.all([
        client
          .fleet(signal)
          .then((fleet) => add({ sensorsTotal: fleet.sensors, devicesTotal: deviceCount(fleet) })),
        client.unwatched({ from: since }, signal).then(({ items }) => add({ unwatched: items })),
        devicesOf(client, since, signal).then((devices) => {
          add({ devicesToRead: devices.length });
          return readDevices(client, devices, { since, signal }, (changed) =>
            add({
              devicesRead: found.devicesRead + 1,
              devices: [...found.devices, ...changed].sort((a, b) => b.change.at - a.change.at),
            }),
          );
        }),
        candidates(client, signal).then((items) => {
          add({ sensorsToRead: items.length });
          return readSensors(careful, items, { known: known.current, now, signal }, (item, bins) =>
            add(withSensor(found, item, bins, since)),
          );
        }),
      ]);
      return found;
    },
    REFRESH,
  );
  return { ...query, data, changes: data ?? first };
}

function withSensor(found: Changes, item: LatestItem, bins: Bins, since: number): Partial<Changes> {
  const sensorsRead = found.sensorsRead + 1;
  const change = changeOf(bins, since);
  if (change === null) return { sensorsRead };
  if (change === 'unjudged') {
    const from = judgedFrom(bins) ?? Number.POSITIVE_INFINITY;
    const earliest = Math.min(from, found.judgedFrom ?? Number.POSITIVE_INFINITY);
    return {
      sensorsRead,
      unjudged: found.unjudged + 1,
      judgedFrom: Number.isFinite(earliest) ? earliest : null,
    };
  }
  const sensors = [...found.sensors, { item, change }];
  sensors.sort((a, b) => b.change.crossings - a.change.crossings || b.change.at - a.change.at);
  return { sensorsRead, sensors };
}

/** @returns sensors to check: the most unusual sensors first, then other sensors if the API judged too few */
async function candidates(client: Client, signal: AbortSignal): Promise<LatestItem[]> {
  const [{ items }, others] = await Promise.all([
    readOutliers(client, signal),
    client.latest({ limit: MOST_SENSORS }, signal),
  ]);
  const judged = new Set(items.map(keyOf));
  return [...items, ...others.items.filter((item) => !judged.has(keyOf(item)))].slice(0, MOST_SENSORS);
}

/** @returns the sensors that the server judges as unusual; none if the API does not judge sensors */
async function readOutliers({ requests }: Client, signal: AbortSignal): Promise<{ items: LatestItem[] }> {
  const answer = await requests.get('/outliers', { limit: MOST_SENSORS }, signal).catch(nullIfMissing);
  return answer ?? { items: [] };
}

/**
 * Reads the bins of sensors, one after the other.
 *
 * @param known the bins of the last reading by sensor, which are updated
 */
async function readSensors(
  client: Client,
  items: LatestItem[],
  { known, now, signal }: { known: Map<string, Bins>; now: number; signal: AbortSignal },
  onRead: (item: LatestItem, bins: Bins) => void,
) {
  const read = items.map(async (item) => {
    const reader = createReader(client, item);
    const bins = await readBins(known.get(keyOf(item)), now, (range, points) =>
      reader.bins(range, points, signal),
    );
    known.set(keyOf(item), bins);
    onRead(item, bins);
  });
  await Promise.all(read);
}

/**
 * @param before the bins of the last reading, of which only the last two are read again
 * @param read reads a range from a whole bin on
 */
export async function readBins(
  before: Bins | undefined,
  now: number,
  read: (range: { from: number; to: number }, points: number) => Promise<Bins & { stepMs: number | null }>,
): Promise<Bins> {
  const oldest = Math.floor((now - (HOURS_BEFORE + 1) * HOUR_MS) / BIN_MS) * BIN_MS;
  const readFrom = (from: number) => read({ from, to: now }, Math.ceil((now - from) / BIN_MS));
  const from = before?.ts.at(-2);
  if (before && from !== undefined && from > oldest) {
    const { ts, avg, stepMs } = await readFrom(from);
    // The API chooses the width of a bin. Bins of another width cannot replace those of the last reading.
    if (stepMs === BIN_MS) {
      const kept = before.ts.flatMap((at, index) => (at >= oldest && at < from ? [index] : []));
      return {
        ts: [...kept.map((index) => before.ts[index] ?? 0), ...ts],
        avg: [...kept.map((index) => before.avg[index] ?? null), ...avg],
      };
    }
  }
  const { ts, avg } = await readFrom(oldest);
  return { ts, avg };
}

/**
 * @param since start of the last hour in epoch ms
 * @returns devices to check, first those that went offline since then
 */
async function devicesOf(client: Client, since: number, signal: AbortSignal): Promise<DeviceItem[]> {
  const [offline, all] = await Promise.all([
    client.devices({ state: 'offline', limit: MOST_DEVICES }, signal),
    client.devices({ limit: MOST_DEVICES }, signal),
  ]);
  const byId = new Map([...all.items, ...offline.items].map((device) => [device.device_id, device]));
  const hasGone = ({ state, last_seen }: DeviceItem) =>
    state === 'offline' && Date.parse(last_seen ?? '') >= since;
  return [...byId.values()].sort((a, b) => Number(hasGone(b)) - Number(hasGone(a))).slice(0, MOST_DEVICES);
}

/** @param range `since`: start of the last hour in epoch ms */
async function readDevices(
  client: Client,
  devices: DeviceItem[],
  { since, signal }: { since: number; signal: AbortSignal },
  onRead: (changed: ChangedDevice[]) => void,
) {
  const limit = createLimit(AT_ONCE);
  const read = devices.map(async (device) => {
    const query = { from: since, limit: MOST_EVENTS };
    const page = await limit.run(() => client.events(device.device_id, query, signal), signal);
    const change = cameOrWent(page.items, since);
    onRead(change ? [{ device, change }] : []);
  });
  await Promise.all(read);
}
