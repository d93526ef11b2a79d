import type { LatestItem, Presence } from '../api/types.ts';
import type { Faults } from './outliers.ts';
import { cellStateOf, listFaults, refreshSilence } from './outliers.ts';

/** The filter that selects the part of a large fleet that the page keeps. */
export type FleetFilter = { type?: string | null; site?: string | null };

/** Maximum number of sensors in the browser. The wall of a larger fleet shows this many, with a note. */
export const MOST_SENSORS = 20_000;

/** Creates the store of all sensors of the fleet from the event stream, each with its judgment: its deviation from the baseline. */
export function createFleet({ limit = MOST_SENSORS }: { limit?: number } = {}) {
  const deviceIndex = createDeviceIndex();
  const { sensors, devices } = deviceIndex;
  let dirty: FleetSensor[] = [];
  let overflow = 0;
  let isRead = false;
  /** The number of sensors that the API counted. */
  let total = Number.POSITIVE_INFINITY;
  /** Whether the store held as many sensors as the API counted, at any time since the last filter change. */
  let isComplete = false;
  /** The number of the current or last snapshot. */
  let snapshot = 0;
  let isComing = false;
  /** The number of the last complete snapshot, and how often the API has counted the sensors since then. */
  let complete = { snapshot: 0, counts: 0 };
  /** Number of successive counts since that snapshot in which the API counted fewer sensors than the store has. */
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
    sensor.ts = ts;
    sensor.at = at;
    sensor.value = value;
  }

  /** @returns whether the judgment of the sensor changed */
  function judge(sensor: FleetSensor, item: LatestItem): boolean {
    if (item.ts === null || item.ts < sensor.ts) return false;
    const { sigmas } = sensor;
    sensor.sigmas = item.sigmas ?? null;
    return sigmas !== sensor.sigmas;
  }

  return {
    sensors: sensors as ReadonlyMap<string, FleetSensor>,
    devices: devices as ReadonlyMap<string, FleetDevice>,

    structure: deviceIndex.structure,
    /** Notes that a snapshot is complete. From then on, the judgment of each sensor that was sent is known. */
    noteRead() {
      isRead = true;
      // A snapshot without sensors has no items that would have started the snapshot, so it is counted here.
      if (!isComing) snapshot += 1;
      isComing = false;
      complete = { snapshot, counts: 0 };
      smallerCounts = 0;
      isAsked = false;
    },
    /** Notes that a snapshot was requested. Until it is complete, the store does not count as outdated. */
    noteAsked() {
      isAsked = true;
    },
    /** @returns whether the whole fleet was read, or as much as the limit allows */
    isRead: (): boolean => isRead,
    /** @returns how often the limit refused a sensor of the event stream */
    overflow: (): number => overflow,

    /**
     * @param key device_id/sensor_id
     * @param isOfSnapshot true: from a snapshot; false: from a change
     * @returns the changed sensor; null: the item changes nothing
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
      // ISO 8601 texts of one format and zone sort like times, so they are compared as texts.
      if (item.ts !== null && item.value !== null && item.ts > sensor.ts)
        measure(sensor, item.ts, item.value);
      // If two values have one timestamp, the value that arrives later counts.
      else if (item.ts === sensor.ts && item.value !== null && item.value !== sensor.value)
        sensor.value = item.value;
      else if (!isNew && !isJudgedAgain) return null;
      touch(sensor);
      return sensor;
    },

    /** @returns sensors that changed since the last call */
    drain(): FleetSensor[] {
      const drained = dirty;
      dirty = [];
      for (const sensor of drained) sensor.dirty = false;
      return drained;
    },

    /** @param away state of each device that is not online, by id */
    setPresence(away: ReadonlyMap<string, Presence>) {
      for (const device of deviceIndex.setPresence(away)) {
        for (const sensor of device.sensors) touch(sensor);
      }
    },

    /** @returns whether a filter limits the sensors */
    isNarrow: (): boolean => Boolean(wanted.type || wanted.site),

    /**
     * Notes the number of sensors that the API counted. At the second count after a snapshot, this method also removes sensors
     * that were not sent since the start of the snapshot, because their devices were retired.
     *
     * @param count number of sensors by the API
     */
    expect(count: number) {
      total = count;
      complete.counts += 1;
      // A sensor that changes during a snapshot is not in the snapshot, but in the changes that follow. So the removal waits
      // for the second count.
      if (complete.counts === 2 && deviceIndex.removeBefore(complete.snapshot))
        dirty = dirty.filter(({ key }) => sensors.has(key));
      smallerCounts = sensors.size > count ? smallerCounts + 1 : 0;
    },

    /**
     * @returns whether the store has sensors of retired devices. One count below the number of sensors is no proof, because the
     *   count may be older than the newest sensors
     */
    isOutdated: (): boolean => smallerCounts > 1 && !isAsked,

    /** @returns whether the store has all sensors, so that lists and searches need no other source */
    holdsAll(): boolean {
      isComplete ||= sensors.size >= total;
      return isComplete && overflow === 0 && !(wanted.type || wanted.site);
    },

    /** Removes a retired device and its sensors. */
    forget(id: string) {
      const device = deviceIndex.remove(id);
      if (device) dirty = dirty.filter((sensor) => sensor.device !== device);
    },

    /** Keeps only the sensors that match the filter, and removes all others. */
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
     * Marks sensors that became silent or send again. Must be called once a second.
     *
     * @param now current time in epoch ms
     */
    refreshSilence: (now: number) => refreshSilence(sensors.values(), now, touch),

    listFaults: (matches?: Parameters<typeof listFaults>[1]): Faults =>
      listFaults({ sensors, devices }, matches),
  };
}

export type Fleet = ReturnType<typeof createFleet>;

export interface FleetDevice {
  id: string;
  /** name of the device; its id if it has no name */
  name: string;
  site: string | null;
  presence: Presence;
  sensors: FleetSensor[];
  /** whether the sensors are sorted by name */
  isInOrder: boolean;
}

/**
 * A sensor. The object lives as long as the page and is changed in place, so that 10,000 values per second leave no
 * objects to the garbage collector.
 */
export interface FleetSensor {
  key: string;
  id: string;
  device: FleetDevice;
  /** name of the sensor; its id if it has no name */
  name: string;
  type: string | null;
  unit: string | null;
  /** time of the newest sample in ISO 8601; empty before the first sample */
  ts: string;
  /** time of the newest sample in epoch ms; 0 before the first sample */
  at: number;
  /** newest value; NaN before the first sample */
  value: number;
  /** time between values in ms from the birth message; 0: not announced */
  intervalMs: number;
  /** deviation of the newest value in standard deviations; null: not judged. See outliers.ts */
  sigmas: number | null;
  /** state of the cell on the wall; see outliers.ts */
  cellState: number;
  /** number of the snapshot that was newest when the sensor was last sent */
  snapshot: number;
  /** whether the sensor is queued for drawing */
  dirty: boolean;
  /** number of the cell of the sensor on the wall; -1: the sensor has no cell */
  cell: number;
}

/** Creates the index of the devices and sensors of the fleet with their names. */
function createDeviceIndex() {
  const sensors: Map<string, FleetSensor> = new Map();
  const devices: Map<string, FleetDevice> = new Map();
  let structure = 0;
  let away: ReadonlyMap<string, Presence> = new Map();

  function deviceOf({ device_id: id, device, site }: LatestItem) {
    const name = device ?? id;
    const known = devices.get(id);
    if (!known) {
      const added = { id, name, site, presence: away.get(id) ?? 'online', sensors: [], isInOrder: false };
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

    /** @returns a version number, which changes when sensors are added, removed or renamed */
    structure: (): number => structure,

    /** @returns the new sensor, still without a value */
    add(key: string, item: LatestItem): FleetSensor {
      const device = deviceOf(item);
      const sensor = newSensor(key, device, item);
      device.sensors.push(sensor);
      device.isInOrder = false;
      sensors.set(key, sensor);
      structure += 1;
      return sensor;
    },

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
     * @param states state of each device that is not online, by id
     * @returns devices whose state changed, with their sensors
     */
    setPresence(states: ReadonlyMap<string, Presence>): FleetDevice[] {
      away = states;
      const changed: FleetDevice[] = [];
      for (const device of devices.values()) {
        const presence = states.get(device.id) ?? 'online';
        if (device.presence === presence) continue;
        device.presence = presence;
        changed.push(device);
      }
      return changed;
    },

    /** @returns the removed device with its sensors */
    remove(id: string): FleetDevice | undefined {
      const device = devices.get(id);
      if (!device) return undefined;
      for (const sensor of device.sensors) sensors.delete(sensor.key);
      devices.delete(id);
      structure += 1;
      return device;
    },

    /**
     * Removes sensors that were last sent before a snapshot.
     *
     * @returns whether any sensor was removed
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
  intervalMs: 0,
  sigmas: null,
  cellState: 0,
  snapshot: 0,
  dirty: false,
  cell: -1,
});
