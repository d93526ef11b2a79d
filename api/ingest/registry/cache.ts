import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.js';
import { groupOf, identifySensor, uuidBytes } from '../../../schema/ids.js';

/** @import { RegistryStore } from '../../store/registry/index.js' */

/** Maximum age of an entry, in ms. A change by another process may stay unnoticed for this time. */
const ENTRY_TTL_MS = 600_000;

/**
 * Interval at which the cache reads its clock, in ms. With the default of 1 the cache sets a timer every ms
 * under load.
 */
const TTL_RESOLUTION_MS = 1000;

/** Limit of devices and sensors together in the cache, at about 300 bytes each. Above it the least recently used device is evicted. */
export const MAX_ENTRIES = 500_000;

/**
 * A registered sensor in the cache.
 *
 * @typedef {object} Sensor
 * @property {string} id
 * @property {Buffer} bytes the 16 bytes of the id
 * @property {string | null} deviceName name of the device, as in the database row of this sensor
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {string | null} label
 * @property {number | null} intervalMs
 * @property {number} registeredAt epoch ms
 * @property {number | null} ts epoch ms of the newest value that this process knows to be committed
 * @property {number | null} value
 */

/**
 * A registered device in the cache.
 *
 * @typedef {object} Device
 * @property {string} id
 * @property {Buffer} bytes the 16 bytes of the id
 * @property {number} group number of the partition group of the device, from 0 to `LATEST_GROUPS` - 1
 * @property {string | null} name
 * @property {string | null} site
 * @property {string | null} label
 * @property {string | null} state
 * @property {number | null} stateStamp write timestamp of the state in epoch µs; null: no status yet
 * @property {number} [stateBegan] when this process began to handle the message of the state, by
 *   `performance.now()`; missing: the state was read from the database
 * @property {number | null} session start of the current session as the device gave it, epoch ms; null: no session was announced
 * @property {number | null} sessionStamp write timestamp of the session in epoch µs; null: no session was announced
 * @property {number[]} endedSessions starts of sessions that have ended, the newest last
 * @property {number} clockOffset the clock of the device minus that of Millrace in ms; 0: no difference is
 *   known
 * @property {number} stamp greatest known write timestamp of state, session and description, epoch µs
 * @property {number | null} describedAt time of the newest description over HTTP, epoch ms; null: no description
 * @property {number} lastSeen time when the device was last seen, as last written to the database, epoch ms
 * @property {number | null} retiredAt epoch ms; null: the device was never retired
 * @property {Map<string, Sensor>} sensors sensors by id
 * @property {Map<string, Sensor>} byRef sensors by id or name, as in messages: up to two entries for each sensor
 */

/** Caches devices with all their sensors. Number and age of the entries are limited. */
export class DeviceCache {
  #store;
  #groups;
  /** @type {LRUCache<string, Device>} */
  #devices = new LRUCache({
    maxSize: MAX_ENTRIES,
    sizeCalculation: (device) => 1 + device.sensors.size,
    ttl: ENTRY_TTL_MS - TTL_RESOLUTION_MS,
    ttlResolution: TTL_RESOLUTION_MS,
    noUpdateTTL: true,
  });
  #reads = new SharedCalls(
    (/** @type {Pick<Device, 'id' | 'bytes'>} */ identity, /** @type {() => boolean} */ isShared) =>
      this.#load(identity, isShared),
  );

  /** @param {{ store: RegistryStore, groups: number }} deps */
  constructor({ store, groups }) {
    this.#store = store;
    this.#groups = groups;
  }

  /** Returns a device from memory only. @param {string} id @returns {Device | undefined} */
  peek(id) {
    return this.#devices.get(id);
  }

  /**
   * Returns a device from memory, or reads the device with its sensors from the database. Concurrent calls share one read.
   *
   * @param {Pick<Device, 'id' | 'bytes'>} identity
   * @returns {Promise<Device | null>} null: the device is not registered
   */
  find(identity) {
    const known = this.#devices.get(identity.id);
    if (known) return Promise.resolve(known);
    return this.#reads.call(identity);
  }

  /** Puts a new or changed device into the cache. The age of its entry still counts from the first read. @param {Device} device */
  keep(device) {
    const left = this.#devices.getRemainingTTL(device.id);
    // The device is removed first, because the cache measures the size of an entry only when the entry is added, and devices grow.
    this.#devices.delete(device.id);
    this.#devices.set(device.id, device, left > 0 ? { ttl: left } : {});
  }

  /**
   * Removes a device from the cache. A running read does not put the device back, and later calls do not share that
   * read.
   *
   * @param {string} id
   */
  forget(id) {
    this.#reads.forget(id);
    this.#devices.delete(id);
  }

  /**
   * @param {Pick<Device, 'id' | 'bytes'>} identity
   * @param {() => boolean} isShared false: the device was removed from the cache during the read
   * @returns {Promise<Device | null>}
   */
  async #load({ id, bytes }, isShared) {
    const group = groupOf(bytes, this.#groups);
    const key = { group, bytes };
    const [row, sensors] = await Promise.all([this.#store.device(key), this.#store.sensors(key)]);
    if (!row) return null;
    /** @type {Device} */
    const device = {
      ...row,
      id,
      bytes,
      group,
      lastSeen: row.lastSeen ?? 0,
      sensors: new Map(),
      byRef: new Map(),
    };
    for (const { id: sensorId, registeredAt, ...rest } of sensors) {
      if (registeredAt === null) continue;
      device.sensors.set(sensorId, { ...rest, id: sensorId, bytes: uuidBytes(sensorId), registeredAt });
    }
    const kept = this.#devices.get(id);
    if (kept) return kept;
    // A device that was removed from the cache during the read may be retired. So the cache must not store this older
    // answer.
    if (isShared()) this.#devices.set(id, device);
    return device;
  }
}

/**
 * @param {Device} device
 * @param {string} ref id or name, as in a message
 * @returns {Sensor | undefined}
 */
export function sensorOf(device, ref) {
  const known = device.byRef.get(ref);
  if (known) return known;
  const identity = identifySensor(device.id, ref);
  const sensor = identity ? device.sensors.get(identity.id) : undefined;
  if (sensor) device.byRef.set(ref, sensor);
  return sensor;
}

/** @param {Pick<Device, 'id' | 'bytes' | 'group' | 'name' | 'retiredAt'>} known @returns {Device} */
export const blankDevice = (known) => ({
  ...known,
  site: null,
  label: null,
  state: null,
  stateStamp: null,
  session: null,
  sessionStamp: null,
  endedSessions: [],
  clockOffset: 0,
  stamp: 0,
  describedAt: null,
  lastSeen: 0,
  sensors: new Map(),
  byRef: new Map(),
});

/**
 * @param {Pick<Sensor, 'id' | 'bytes' | 'deviceName' | 'name' | 'site'> & { registeredAt?: number }} known `registeredAt` is set when
 *   the registration is committed
 * @returns {Sensor}
 */
export const blankSensor = (known) => ({
  ...known,
  type: null,
  unit: null,
  label: null,
  intervalMs: null,
  registeredAt: known.registeredAt ?? 0,
  ts: null,
  value: null,
});
