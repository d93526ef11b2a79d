import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.ts';
import {
  type DeviceBytes,
  groupOf,
  identifySensor,
  type SensorBytes,
  uuidBytes,
} from '../../../schema/ids.ts';
import { lastInstantOf, type Stamp, stampOf } from '../../store/index.ts';
import type { RegistryStore } from '../../store/registry/index.ts';

/** A change by another process may stay unnoticed for this time. */
const ENTRY_TTL_MS = 600_000;

/** With the default of 1 ms the cache sets a timer every ms under load. */
const TTL_RESOLUTION_MS = 1000;

/** Devices and sensors together, at about 300 bytes each. */
export const MAX_ENTRIES = 500_000;

export type Sensor = {
  id: string;
  /** the 16 bytes of the id */
  bytes: SensorBytes;
  /** name of the device as in the database row of this sensor */
  deviceName: string | null;
  name: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  label: string | null;
  intervalMs: number | null;
  /** epoch ms */
  registeredAt: number;
  /** epoch ms of the newest value that this process knows to be committed */
  ts: number | null;
  value: number | null;
  /** epoch ms: a correction decides what is shown of samples up to this instant */
  correctedUntil?: number | undefined;
};

export type Device = {
  id: string;
  /** the 16 bytes of the id */
  bytes: DeviceBytes;
  /** partition group, from 0 to `LATEST_GROUPS` - 1 */
  group: number;
  name: string | null;
  site: string | null;
  label: string | null;
  state: string | null;
  /** null: no status yet */
  stateStamp: Stamp | null;
  /** Start of the handling of its message by `performance.now()`; missing: the state was read from the database. */
  stateBegan?: number;
  /** start as the device gave it, epoch ms; null: no session was announced */
  session: number | null;
  /** null: no session was announced */
  sessionStamp: Stamp | null;
  /** starts of sessions that have ended, the newest last */
  endedSessions: number[];
  /** clock of the device minus that of Millrace in ms; 0: no difference is known */
  clockOffset: number;
  /** greatest known write timestamp of state, session and description */
  stamp: Stamp;
  /** time of the newest description over HTTP, epoch ms */
  describedAt: number | null;
  /** as last written to the database, epoch ms */
  lastSeen: number;
  /** epoch ms; null: the device was never retired */
  retiredAt: number | null;
  /** some of its sensors have `correctedUntil` */
  isCorrected?: boolean;
  sensors: Map<string, Sensor>;
  /** by id or name, as in messages: up to two entries for each sensor */
  byRef: Map<string, Sensor>;
};

export class DeviceCache {
  #store;
  #groups;
  #devices: LRUCache<string, Device> = new LRUCache({
    maxSize: MAX_ENTRIES,
    sizeCalculation: (device) => 1 + device.sensors.size,
    ttl: ENTRY_TTL_MS - TTL_RESOLUTION_MS,
    ttlResolution: TTL_RESOLUTION_MS,
    noUpdateTTL: true,
  });
  #reads = new SharedCalls((identity: Pick<Device, 'id' | 'bytes'>, isShared: () => boolean) =>
    this.#load(identity, isShared),
  );

  constructor({ store, groups }: { store: RegistryStore; groups: number }) {
    this.#store = store;
    this.#groups = groups;
  }

  peek(id: string): Device | undefined {
    return this.#devices.get(id);
  }

  /** Concurrent calls share one read. Returns null if the device is not registered. */
  find(identity: Pick<Device, 'id' | 'bytes'>): Promise<Device | null> {
    const known = this.#devices.get(identity.id);
    if (known) return Promise.resolve(known);
    return this.#reads.call(identity);
  }

  /** The age of its entry still counts from the first read. */
  keep(device: Device) {
    const left = this.#devices.getRemainingTTL(device.id);
    // The cache measures the size of an entry only when the entry is added, and devices grow.
    this.#devices.delete(device.id);
    this.#devices.set(device.id, device, left > 0 ? { ttl: left } : {});
  }

  /** A running read does not put the device back, and later calls do not share that read. */
  forget(id: string) {
    this.#reads.forget(id);
    this.#devices.delete(id);
  }

  /** `isShared` false: the device was removed from the cache during the read */
  async #load({ id, bytes }: Pick<Device, 'id' | 'bytes'>, isShared: () => boolean): Promise<Device | null> {
    const group = groupOf(bytes, this.#groups);
    const key = { group, bytes };
    const [row, sensors] = await Promise.all([this.#store.device(key), this.#store.sensors(key)]);
    if (!row) return null;
    const device: Device = {
      ...row,
      id,
      bytes,
      group,
      lastSeen: row.lastSeen ?? 0,
      isCorrected: sensors.some(({ corrected }) => corrected !== undefined),
      sensors: new Map(),
      byRef: new Map(),
    };
    for (const { id: sensorId, registeredAt, corrected, ...rest } of sensors) {
      if (registeredAt === null) continue;
      device.sensors.set(sensorId, {
        ...{ ...rest, id: sensorId, bytes: uuidBytes(sensorId), registeredAt },
        ...(corrected && { correctedUntil: lastInstantOf(corrected, row.retiredAt) }),
      });
    }
    const kept = this.#devices.get(id);
    if (kept) return kept;
    // A device that was removed from the cache during the read may be retired. So the cache must not store this older answer.
    if (isShared()) this.#devices.set(id, device);
    return device;
  }
}

/** `ref`: id or name, as in a message */
export function sensorOf(device: Device, ref: string): Sensor | undefined {
  const known = device.byRef.get(ref);
  if (known) return known;
  const identity = identifySensor(device.id, ref);
  const sensor = identity ? device.sensors.get(identity.id) : undefined;
  if (sensor) device.byRef.set(ref, sensor);
  return sensor;
}

export const blankDevice = (
  known: Pick<Device, 'id' | 'bytes' | 'group' | 'name' | 'retiredAt'>,
): Device => ({
  ...known,
  site: null,
  label: null,
  state: null,
  stateStamp: null,
  session: null,
  sessionStamp: null,
  endedSessions: [],
  clockOffset: 0,
  stamp: stampOf(0),
  describedAt: null,
  lastSeen: 0,
  sensors: new Map(),
  byRef: new Map(),
});

/** `registeredAt` is set when the registration is committed */
export const blankSensor = (
  known: Pick<Sensor, 'id' | 'bytes' | 'deviceName' | 'name' | 'site'> & { registeredAt?: number },
): Sensor => ({
  ...known,
  type: null,
  unit: null,
  label: null,
  intervalMs: null,
  registeredAt: known.registeredAt ?? 0,
  ts: null,
  value: null,
});
