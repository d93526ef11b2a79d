import type { LatestItem } from '../api/types.ts';
import type { Faults } from './outliers.ts';
import { cellStateOf, listFaults, refreshSilence } from './outliers.ts';

/** The part of a fleet that is too large to be kept as a whole. */
export type FleetFilter = { type?: string | null; site?: string | null };

/** The number of sensors that a browser keeps. The wall of a larger fleet shows this many, with a note. */
export const MOST_SENSORS = 20_000;

/** All sensors of the fleet from the stream, each with its judgment. */
export function createFleet({ limit = MOST_SENSORS }: { limit?: number } = {}) {
  const deviceIndex = createDeviceIndex();
  const { sensors, devices } = deviceIndex;
  let dirty: FleetSensor[] = [];
  let overflow = 0;
  let isRead = false;
  /** The API's count of sensors. */
  let total = Number.POSITIVE_INFINITY;
  /** Whether the store held that many sensors since it was last restricted. */
  let isComplete = false;
  /** The number of the snapshot that is coming in, or came in last. */
  let snapshot = 0;
  let isComing = false;
  /** The last complete snapshot, and the API's counts since then. */
  let complete = { snapshot: 0, counts: 0 };
  /** Counts in a row, since that snapshot, with fewer sensors than are here. */
  let smallerCounts = 0;
  let isAsked = false;
  let wanted: FleetFilter = {};

  function touch(sensor: FleetSensor) {
    sensor.cellState = cellStateOf(sensor);
    if (sensor.dirty) return;
    sensor.dirty = true;
    dirty.push(sensor);
  }

  function measure(sensor: FleetSensor, ts: string, value: number) {
    const at = Date.parse(ts);
    const gap = at - sensor.at;
    if (sensor.at > 0 && gap > 0) sensor.gapMs += (sensor.gapMs === 0 ? 1 : 0.2) * (gap - sensor.gapMs);
    sensor.ts = ts;
    sensor.at = at;
    sensor.value = value;
  }

  /** @returns whether it is judged otherwise than before */
  function judge(sensor: FleetSensor, item: LatestItem): boolean {
    if (item.ts === null || item.ts < sensor.ts) return false;
    const { sigmas, provisional } = sensor;
    sensor.sigmas = item.sigmas ?? null;
    sensor.provisional = item.provisional === true;
    return sigmas !== sensor.sigmas || provisional !== sensor.provisional;
  }

  return {
    sensors: sensors as ReadonlyMap<string, FleetSensor>,
    devices: devices as ReadonlyMap<string, FleetDevice>,

    structure: deviceIndex.structure,
    /** Notes that a snapshot is complete: from then on, every sensor that was sent is judged. */
    noteRead() {
      isRead = true;
      // A snapshot without sensors.
      if (!isComing) snapshot += 1;
      isComing = false;
      complete = { snapshot, counts: 0 };
      smallerCounts = 0;
      isAsked = false;
    },
    /** Notes that a snapshot is asked for. Until it is complete, nothing counts as outdated. */
    noteAsked() {
      isAsked = true;
    },
    /** @returns whether the whole fleet was read, or as much as there is room for */
    isRead: (): boolean => isRead,
    /** @returns how often the stream sent a sensor for which there was no room */
    overflow: (): number => overflow,

    /**
     * @param key device_id/sensor_id
     * @param isOfSnapshot else of a change
     * @returns null: nothing is new
     */
    take(key: string, item: LatestItem, isOfSnapshot: boolean = false): FleetSensor | null {
      if (isOfSnapshot && !isComing) snapshot += 1;
      isComing = isOfSnapshot;
      let sensor = sensors.get(key);
      if (
        !sensor &&
        ((wanted.type && item.type !== wanted.type) || (wanted.site && item.site !== wanted.site))
      ) {
        return null;
      }
      if (!sensor && sensors.size >= limit) {
        overflow += 1;
        return null;
      }
      const isNew = !sensor;
      sensor ??= deviceIndex.add(key, item);
      deviceIndex.label(sensor, item);
      sensor.intervalMs = item.interval_ms ?? 0;
      sensor.snapshot = snapshot;
      const isJudgedAgain = judge(sensor, item);
      // ISO 8601 texts of one form and zone sort as times do.
      if (item.ts !== null && item.value !== null && item.ts > sensor.ts)
        measure(sensor, item.ts, item.value);
      // The later of two values for one instant counts.
      else if (item.ts === sensor.ts && item.value !== null && item.value !== sensor.value)
        sensor.value = item.value;
      else if (!isNew && !isJudgedAgain) return null;
      touch(sensor);
      return sensor;
    },

    /** @returns those that changed since the last call */
    drain(): FleetSensor[] {
      const drained = dirty;
      dirty = [];
      for (const sensor of drained) sensor.dirty = false;
      return drained;
    },

    /** @param ids of devices that are offline */
    setOffline(ids: ReadonlySet<string>) {
      for (const device of deviceIndex.setOffline(ids)) {
        for (const sensor of device.sensors) touch(sensor);
      }
    },

    /** @returns whether only some sensors are taken in */
    isNarrow: (): boolean => Boolean(wanted.type || wanted.site),

    /**
     * Some time after a snapshot it also forgets the sensors that were not sent since the snapshot began: their
     * devices were retired.
     *
     * @param count of sensors by the API's count
     */
    expect(count: number) {
      total = count;
      complete.counts += 1;
      // A sensor that changes while a snapshot is sent is not in it, but in the changes that follow.
      if (complete.counts === 2 && deviceIndex.removeBefore(complete.snapshot))
        dirty = dirty.filter(({ key }) => sensors.has(key));
      smallerCounts = sensors.size > count ? smallerCounts + 1 : 0;
    },

    /**
     * @returns whether devices that are here were retired. One smaller count proves nothing: it may be older than
     *   the newest sensors
     */
    isOutdated: (): boolean => smallerCounts > 1 && !isAsked,

    /** @returns whether it has all sensors: a list or a search needs no other source */
    holdsAll(): boolean {
      isComplete ||= sensors.size >= total;
      return isComplete && overflow === 0 && !(wanted.type || wanted.site);
    },

    /** Forgets a device that was retired, with its sensors. */
    forget(id: string) {
      const device = deviceIndex.remove(id);
      if (device) dirty = dirty.filter((sensor) => sensor.device !== device);
    },

    /** Keeps only these sensors, and removes all others. */
    setFilter(next: FleetFilter) {
      wanted = next;
      total = Number.POSITIVE_INFINITY;
      isComplete = false;
      smallerCounts = 0;
      isAsked = false;
      deviceIndex.clear();
      dirty = [];
      overflow = 0;
      isRead = false;
    },

    /**
     * Marks the sensors that became silent or send again. Call it once a second.
     *
     * @param now epoch ms
     */
    refreshSilence: (now: number) => refreshSilence(sensors.values(), now, touch),

    listFaults: (): Faults => listFaults({ sensors, devices }),
  };
}

export type Fleet = ReturnType<typeof createFleet>;

export interface FleetDevice {
  id: string;
  /** its id where it has none */
  name: string;
  site: string | null;
  offline: boolean;
  sensors: FleetSensor[];
  /** its sensors stand in the order of their names */
  isInOrder: boolean;
}

/** One record for as long as the page is open, changed in place: ten thousand values a second make no garbage. */
export interface FleetSensor {
  key: string;
  id: string;
  device: FleetDevice;
  /** its id where it has none */
  name: string;
  type: string | null;
  unit: string | null;
  /** as the API writes it; empty before the first sample */
  ts: string;
  /** the same, epoch ms; 0 before the first sample */
  at: number;
  /** NaN before the first sample */
  value: number;
  /** between values, as seen; 0 while that is not known */
  gapMs: number;
  /** the same, from the device's birth; 0: not announced */
  intervalMs: number;
  /** how unusual its value is; null: not judged. See outliers.ts */
  sigmas: number | null;
  /** it was judged by its last hours */
  provisional: boolean;
  /** of its cell on the wall; see outliers.ts */
  cellState: number;
  /** number of the newest snapshot when it was last sent */
  snapshot: number;
  /** the sensor is queued for drawing */
  dirty: boolean;
  /** its number on the wall; -1: none */
  cell: number;
}

/** The devices and sensors of the fleet with their names. */
function createDeviceIndex() {
  const sensors: Map<string, FleetSensor> = new Map();
  const devices: Map<string, FleetDevice> = new Map();
  let structure = 0;
  let offline: ReadonlySet<string> = new Set();

  function deviceOf({ device_id: id, device, site }: LatestItem) {
    const name = device ?? id;
    const known = devices.get(id);
    if (!known) {
      const added = { id, name, site, offline: offline.has(id), sensors: [], isInOrder: false };
      devices.set(id, added);
      return added;
    }
    if (known.name !== name || known.site !== site) {
      known.name = name;
      known.site = site;
      structure += 1;
    }
    return known;
  }

  return {
    sensors,
    devices,

    /** @returns another one means that sensors came, went or were renamed */
    structure: (): number => structure,

    /** @returns it has measured nothing yet */
    add(key: string, item: LatestItem): FleetSensor {
      const device = deviceOf(item);
      const sensor = newSensor(key, device, item);
      device.sensors.push(sensor);
      device.isInOrder = false;
      sensors.set(key, sensor);
      structure += 1;
      return sensor;
    },

    /** Updates the labels of a sensor and its device. */
    label(sensor: FleetSensor, item: LatestItem) {
      deviceOf(item);
      const name = item.name ?? item.sensor_id;
      if (sensor.name === name && sensor.type === item.type && sensor.unit === item.unit) return;
      sensor.name = name;
      sensor.type = item.type;
      sensor.unit = item.unit;
      sensor.device.isInOrder = false;
      structure += 1;
    },

    /**
     * @param ids of devices that are offline
     * @returns those that come or go by it
     */
    setOffline(ids: ReadonlySet<string>): FleetDevice[] {
      offline = ids;
      const changed = [...devices.values()].filter((device) => device.offline !== ids.has(device.id));
      for (const device of changed) device.offline = ids.has(device.id);
      return changed;
    },

    /** @returns the device that is gone, with its sensors */
    remove(id: string): FleetDevice | undefined {
      const device = devices.get(id);
      if (!device) return undefined;
      for (const sensor of device.sensors) sensors.delete(sensor.key);
      devices.delete(id);
      structure += 1;
      return device;
    },

    /**
     * Removes the sensors that were last sent before a snapshot.
     *
     * @returns whether there were any
     */
    removeBefore(snapshot: number): boolean {
      const before = sensors.size;
      for (const [key, sensor] of sensors) if (sensor.snapshot < snapshot) sensors.delete(key);
      if (sensors.size === before) return false;
      for (const device of devices.values()) {
        device.sensors = device.sensors.filter(({ key }) => sensors.has(key));
        if (device.sensors.length === 0) devices.delete(device.id);
      }
      structure += 1;
      return true;
    },

    clear() {
      sensors.clear();
      devices.clear();
      structure += 1;
    },
  };
}

const newSensor = (key: string, device: FleetDevice, item: LatestItem): FleetSensor => ({
  key,
  id: item.sensor_id,
  device,
  name: item.name ?? item.sensor_id,
  type: item.type,
  unit: item.unit,
  ts: '',
  at: 0,
  value: Number.NaN,
  gapMs: 0,
  intervalMs: 0,
  sigmas: null,
  provisional: false,
  cellState: 0,
  snapshot: 0,
  dirty: false,
  cell: -1,
});
