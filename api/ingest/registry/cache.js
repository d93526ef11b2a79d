import { LRUCache } from 'lru-cache';
import { groupOf, identifySensor, uuidBytes } from '../../../schema/ids.js';

/** @import { RegistryStore } from '../../store/registry/index.js' */

/** An entry is read anew after this long, in ms: that is how long another process's change may stay unseen. */
export const ENTRY_TTL_MS = 600_000;

/** Its clock is read so often, in ms: at one, as by itself, it sets a timer a ms under load. */
const TTL_RESOLUTION_MS = 1000;

/** Devices and sensors kept, together: about 300 bytes each. */
export const MOST_ENTRIES = 500_000;

/**
 * What ingest knows of a sensor.
 *
 * @typedef {object} Sensor
 * @property {string} id
 * @property {Buffer} bytes the id's 16
 * @property {string | null} deviceName as it stands in this sensor's row
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {number | null} intervalMs
 * @property {number | null} ts epoch ms of the newest value that is known to be committed
 * @property {number | null} value
 */

/**
 * What ingest knows of a device.
 *
 * @typedef {object} Device
 * @property {string} id
 * @property {Buffer} bytes the id's 16
 * @property {number} group
 * @property {string | null} name
 * @property {string | null} site
 * @property {string | null} state
 * @property {number | null} stateStamp epoch µs that the state is stamped with; null where no status was ever sent
 * @property {number | null} session epoch ms of the newest birth's; null before the first
 * @property {number} lastSeen epoch ms of what was last written
 * @property {number | null} retiredAt epoch ms; null: it never was
 * @property {Map<string, Sensor>} sensors by id
 * @property {Map<string, Sensor>} byRef by what messages call them, id or name: at most two for each sensor
 */

/**
 * Devices with all their sensors, bounded in number and age.
 *
 * @param {{ store: RegistryStore, groups: number }} deps
 */
export function createDeviceCache({ store, groups }) {
  /** @type {LRUCache<string, Device>} */
  const devices = new LRUCache({
    maxSize: MOST_ENTRIES,
    sizeCalculation: (device) => 1 + device.sensors.size,
    ttl: ENTRY_TTL_MS - TTL_RESOLUTION_MS,
    ttlResolution: TTL_RESOLUTION_MS,
    noUpdateTTL: true,
  });

  /** @param {Pick<Device, 'id' | 'bytes'>} identity @returns {Promise<Device | null>} */
  async function load({ id, bytes }) {
    const group = groupOf(bytes, groups);
    const key = { group, bytes };
    const [row, sensors] = await Promise.all([store.device(key), store.sensors(key)]);
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
      device.sensors.set(sensorId, { ...rest, id: sensorId, bytes: uuidBytes(sensorId) });
    }
    devices.set(id, device);
    return device;
  }

  const read = shareReads(load);

  return {
    /** @param {string} id @returns {Device | undefined} */
    peek: (id) => devices.get(id),

    /**
     * @param {Pick<Device, 'id' | 'bytes'>} identity
     * @returns {Promise<Device | null>} null: nobody has registered it; read once, however many ask at once
     */
    find(identity) {
      const known = devices.get(identity.id);
      if (known) return Promise.resolve(known);
      return read(identity);
    },

    /** Takes a new or a grown device in; its age counts from its first reading on. @param {Device} device */
    keep: (device) => devices.set(device.id, device),

    /** @param {string} id */
    forget: (id) => devices.delete(id),
  };
}

/** @typedef {ReturnType<typeof createDeviceCache>} DeviceCache */

/**
 * @param {Device} device
 * @param {string} ref id or name, as a message has it
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
  state: null,
  stateStamp: null,
  session: null,
  lastSeen: 0,
  sensors: new Map(),
  byRef: new Map(),
});

/** @param {Pick<Sensor, 'id' | 'bytes' | 'deviceName' | 'name' | 'site'>} known @returns {Sensor} */
export const blankSensor = (known) => ({
  ...known,
  type: null,
  unit: null,
  intervalMs: null,
  ts: null,
  value: null,
});

/**
 * Reads that are under way are shared: what many ask for at once is read once.
 *
 * @template {{ id: string }} Key
 * @template T
 * @param {(key: Key) => Promise<T>} read
 * @returns {(key: Key) => Promise<T>}
 */
export function shareReads(read) {
  /** @type {Map<string, Promise<T>>} by the key's id */
  const underWay = new Map();
  return (key) => {
    const shared = underWay.get(key.id);
    if (shared) return shared;
    const answer = read(key).finally(() => underWay.delete(key.id));
    underWay.set(key.id, answer);
    return answer;
  };
}
