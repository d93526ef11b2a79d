import type { LatestItem, Presence } from '../api/types.ts';
import type { Faults, Judge } from './cells.ts';
import { cellStateOf, listFaults, NO_JUDGE, refreshSilence } from './cells.ts';
import type { Place, PlaceOf } from './places.ts';

export type FleetFilter = { type?: string | null; site?: string | null };

/** Maximum number of sensors in the browser. The wall of a larger fleet shows this many, with a note. */
export const MOST_SENSORS = 20_000;

/** The store of all sensors of the fleet from the event stream, each with the judgment of its newest value. */
export class Fleet {
  readonly judge: Judge;
  readonly #limit: number;
  readonly #deviceIndex = new DeviceIndex();
  #dirty: FleetSensor[] = [];
  #overflow = 0;
  #isRead = false;

  #total = Number.POSITIVE_INFINITY;

  /** True: the store held as many sensors as the API counted, at any time since the last filter change. */
  #isComplete = false;

  #snapshot = 0;
  #isSnapshotRunning = false;

  /** The number of the last complete snapshot, and how often the API has counted the sensors since then. */
  #complete = { snapshot: 0, counts: 0 };

  /** Number of successive counts since that snapshot in which the API counted fewer sensors than the store has. */
  #smallerCounts = 0;
  #isSnapshotRequested = false;
  #wanted: FleetFilter = {};

  readonly #touch = (sensor: FleetSensor) => {
    sensor.cellState = cellStateOf(sensor, this.judge);
    if (sensor.dirty) return;
    sensor.dirty = true;
    this.#dirty.push(sensor);
  };

  readonly sensors: ReadonlyMap<string, FleetSensor> = this.#deviceIndex.sensors;

  readonly devices: ReadonlyMap<string, FleetDevice> = this.#deviceIndex.devices;

  constructor({
    limit = MOST_SENSORS,
    judge = NO_JUDGE,
  }: { limit?: number; judge?: Judge | undefined } = {}) {
    this.#limit = limit;
    this.judge = judge;
  }

  structure(): number {
    return this.#deviceIndex.structure();
  }

  /** Notes that a snapshot is complete. From then on, the judgment of each sensor that was sent is known. */
  noteRead() {
    this.#isRead = true;
    // A snapshot without sensors has no items that would have started the snapshot, so it is counted here.
    if (!this.#isSnapshotRunning) this.#snapshot += 1;
    this.#isSnapshotRunning = false;
    this.#complete = { snapshot: this.#snapshot, counts: 0 };
    this.#smallerCounts = 0;
    this.#isSnapshotRequested = false;
  }

  /** Notes that a snapshot was requested. Until it is complete, the store does not count as outdated. */
  noteAsked() {
    this.#isSnapshotRequested = true;
  }

  /** @returns whether the whole fleet was read, or as much as the limit allows */
  isRead(): boolean {
    return this.#isRead;
  }

  /** @returns how often the limit refused a sensor of the event stream */
  overflow(): number {
    return this.#overflow;
  }

  /** @param key device_id/sensor_id @returns null: the item changes nothing */
  take(key: string, item: LatestItem, isOfSnapshot: boolean = false): FleetSensor | null {
    if (isOfSnapshot && !this.#isSnapshotRunning) this.#snapshot += 1;
    this.#isSnapshotRunning = isOfSnapshot;
    let sensor = this.sensors.get(key);
    if (
      !sensor &&
      ((this.#wanted.type && item.type !== this.#wanted.type) ||
        (this.#wanted.site && item.site !== this.#wanted.site))
    ) {
      return null;
    }
    if (!sensor && this.sensors.size >= this.#limit) {
      this.#overflow += 1;
      return null;
    }
    const isNew = !sensor;
    sensor ??= this.#deviceIndex.add(key, item);
    this.#deviceIndex.label(sensor, item);
    sensor.intervalMs = item.interval_ms ?? 0;
    sensor.snapshot = this.#snapshot;
    const isJudgedAgain = this.#judge(sensor, item);
    // ISO 8601 texts of one format and zone sort like times, so they are compared as texts.
    if (item.ts !== null && item.value !== null && item.ts > sensor.ts)
      this.#measure(sensor, item.ts, item.value);
    // If two values have one timestamp, the value that arrives later counts.
    else if (item.ts === sensor.ts && item.value !== null && item.value !== sensor.value)
      sensor.value = item.value;
    else if (!isNew && !isJudgedAgain) return null;
    this.#touch(sensor);
    return sensor;
  }

  /** Gives a place to all sensors, also to those that are still to come. */
  setPlaces(placeOf: PlaceOf) {
    this.#deviceIndex.setPlaces(placeOf);
  }

  drain(): FleetSensor[] {
    const drained = this.#dirty;
    this.#dirty = [];
    for (const sensor of drained) sensor.dirty = false;
    return drained;
  }

  setPresence(away: ReadonlyMap<string, Presence>) {
    for (const device of this.#deviceIndex.setPresence(away)) {
      for (const sensor of device.sensors) this.#touch(sensor);
    }
  }

  isNarrow(): boolean {
    return Boolean(this.#wanted.type || this.#wanted.site);
  }

  /** At the second count after a snapshot, removes sensors that the snapshot did not have, because their devices were retired. */
  expect(count: number) {
    this.#total = count;
    this.#complete.counts += 1;
    // A sensor that changes during a snapshot is not in the snapshot, but in the changes that follow. So the removal waits
    // for the second count.
    if (this.#complete.counts === 2 && this.#deviceIndex.removeBefore(this.#complete.snapshot))
      this.#dirty = this.#dirty.filter(({ key }) => this.sensors.has(key));
    this.#smallerCounts = this.sensors.size > count ? this.#smallerCounts + 1 : 0;
  }

  /** @returns whether the store has sensors of retired devices. One smaller count is no proof, because it may be older than the sensors */
  isOutdated(): boolean {
    return this.#smallerCounts > 1 && !this.#isSnapshotRequested;
  }

  /** @returns whether the store has all sensors, so that lists and searches need no other source */
  holdsAll(): boolean {
    this.#isComplete ||= this.sensors.size >= this.#total;
    return this.#isComplete && this.#overflow === 0 && !this.isNarrow();
  }

  forget(id: string) {
    const device = this.#deviceIndex.remove(id);
    if (device) this.#dirty = this.#dirty.filter((sensor) => sensor.device !== device);
  }

  setFilter(next: FleetFilter) {
    this.#wanted = next;
    this.#total = Number.POSITIVE_INFINITY;
    this.#isComplete = false;
    this.#smallerCounts = 0;
    this.#isSnapshotRequested = false;
    this.#deviceIndex.clear();
    this.#dirty = [];
    this.#overflow = 0;
    this.#isRead = false;
  }

  /** Marks sensors that became silent or send again. Must be called once a second. */
  refreshSilence(now: number) {
    return refreshSilence(this.sensors.values(), now, this.#touch);
  }

  listFaults(matches?: Parameters<typeof listFaults>[1]): Faults {
    return listFaults(this, matches);
  }

  #measure(sensor: FleetSensor, ts: string, value: number) {
    const at = Date.parse(ts);
    sensor.ts = ts;
    sensor.at = at;
    sensor.value = value;
  }

  #judge(sensor: FleetSensor, item: LatestItem): boolean {
    if (item.ts === null || item.ts < sensor.ts) return false;
    const { sigmas } = sensor;
    sensor.sigmas = item.sigmas ?? null;
    return sigmas !== sensor.sigmas;
  }
}

export interface FleetDevice {
  id: string;
  /** name of the device; its id if it has no name */
  name: string;
  site: string | null;
  presence: Presence;
  sensors: FleetSensor[];
  isInOrder: boolean;
}

/** Lives as long as the page and is changed in place, so that 10,000 values per second leave no objects to the garbage collector. */
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
  /** null: it has none; undefined: places are not known yet */
  place: Place | null | undefined;
  /** deviation of the newest value from usual ones in standard deviations; null: not judged */
  sigmas: number | null;
  cellState: number;
  /** number of the snapshot that was newest when the sensor was last sent */
  snapshot: number;
  dirty: boolean;
  /** number of the cell of the sensor on the wall; -1: the sensor has no cell */
  cell: number;
}

class DeviceIndex {
  readonly sensors: Map<string, FleetSensor> = new Map();
  readonly devices: Map<string, FleetDevice> = new Map();
  #structure = 0;
  #away: ReadonlyMap<string, Presence> = new Map();
  #placeOf: PlaceOf | null = null;

  structure(): number {
    return this.#structure;
  }

  add(key: string, item: LatestItem): FleetSensor {
    const device = this.#updateDevice(item);
    const sensor = newSensor(key, device, item);
    sensor.place = this.#placeOf?.(device.id, sensor.id);
    device.sensors.push(sensor);
    device.isInOrder = false;
    this.sensors.set(key, sensor);
    this.#structure += 1;
    return sensor;
  }

  label(sensor: FleetSensor, item: LatestItem) {
    this.#updateDevice(item);
    const name = item.name ?? item.sensor_id;
    if (sensor.name === name && sensor.type === item.type && sensor.unit === item.unit) return;
    sensor.name = name;
    sensor.type = item.type;
    sensor.unit = item.unit;
    sensor.device.isInOrder = false;
    this.#structure += 1;
  }

  setPresence(states: ReadonlyMap<string, Presence>): FleetDevice[] {
    this.#away = states;
    const changed: FleetDevice[] = [];
    for (const device of this.devices.values()) {
      const presence = states.get(device.id) ?? 'online';
      if (device.presence === presence) continue;
      device.presence = presence;
      changed.push(device);
    }
    return changed;
  }

  setPlaces(placeOf: PlaceOf) {
    this.#placeOf = placeOf;
    let isChanged = false;
    for (const sensor of this.sensors.values()) {
      const place = placeOf(sensor.device.id, sensor.id);
      if (place === sensor.place) continue;
      isChanged ||= place?.path !== sensor.place?.path || sensor.place === undefined;
      isChanged ||= place?.levels.join() !== sensor.place?.levels.join();
      sensor.place = place;
    }
    if (isChanged) this.#structure += 1;
  }

  remove(id: string): FleetDevice | undefined {
    const device = this.devices.get(id);
    if (!device) return undefined;
    for (const sensor of device.sensors) this.sensors.delete(sensor.key);
    this.devices.delete(id);
    this.#structure += 1;
    return device;
  }

  /** Removes sensors that were last sent before a snapshot. @returns whether any sensor was removed */
  removeBefore(snapshot: number): boolean {
    const before = this.sensors.size;
    for (const [key, sensor] of this.sensors) if (sensor.snapshot < snapshot) this.sensors.delete(key);
    if (this.sensors.size === before) return false;
    for (const device of this.devices.values()) {
      device.sensors = device.sensors.filter(({ key }) => this.sensors.has(key));
      if (device.sensors.length === 0) this.devices.delete(device.id);
    }
    this.#structure += 1;
    return true;
  }

  clear() {
    this.sensors.clear();
    this.devices.clear();
    this.#structure += 1;
  }

  #updateDevice({ device_id: id, device, site }: LatestItem) {
    const name = device ?? id;
    const known = this.devices.get(id);
    if (!known) {
      const added = {
        id,
        name,
        site,
        presence: this.#away.get(id) ?? 'online',
        sensors: [],
        isInOrder: false,
      };
      this.devices.set(id, added);
      return added;
    }
    if (known.name !== name || known.site !== site) {
      known.name = name;
      known.site = site;
      this.#structure += 1;
    }
    return known;
  }
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
  place: undefined,
  sigmas: null,
  cellState: 0,
  snapshot: 0,
  dirty: false,
  cell: -1,
});
