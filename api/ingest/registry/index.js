import { MillraceError } from '../../../common/errors.js';
import { someAtOnce } from '../../../common/some-at-once.js';
import { groupOf, identifySensor } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { firstMessageStamp } from './births.js';
import { blankDevice, blankSensor, createDeviceCache, sensorOf } from './cache.js';

/** @import { Device, Sensor } from './cache.js' */
/** @import { ErrorCode } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { PartitionWrite, SensorChange } from '../../store/registry/sensor-writes.js' */
/** @import { RegistryStore } from '../../store/registry/index.js' */
/** @import { RetirementStore } from '../../store/registry/retirement.js' */
/** @import { Retry } from '../../store/retry.js' */

/**
 * The registry of devices and sensors, with a bounded cache. If AUTO_REGISTER is on, the first message of an unknown device or sensor
 * registers it. Registration is not on the hot path. It is committed before the first measurement is sent.
 *
 * @param {object} deps
 * @param {RegistryStore} deps.store
 * @param {number} deps.groups `LATEST_GROUPS`
 * @param {{ autoRegister: boolean, autoRegisterMax: number }} deps.limits
 * @param {Retry} deps.retry
 * @param {() => number} deps.clock epoch ms
 */
export function createRegistry({ store, groups, limits, retry, clock }) {
  const cache = createDeviceCache({ store, groups });
  const { write: writeSensors } = createSensorWriter({ store, retry, clock });
  /** The newest change of each device. Changes of one device run one after the other. @type {Map<string, Promise<unknown>>} */
  const changing = new Map();
  let devices = 0;

  /** @param {Pick<Device, 'id' | 'bytes'>} identity @returns {Promise<Device | null>} null: it is not registered */
  const find = (identity) => retry.run(() => cache.find(identity));

  /**
   * Runs a change after the earlier changes of the same device.
   *
   * @template T
   * @param {string} id of the device
   * @param {() => Promise<T>} change
   * @returns {Promise<T>}
   */
  function serialize(id, change) {
    const result = (changing.get(id) ?? Promise.resolve()).then(change, change);
    changing.set(id, result);
    const leave = () => {
      if (changing.get(id) === result) changing.delete(id);
    };
    result.then(leave, leave);
    return result;
  }

  /** @param {Pick<Device, 'id' | 'bytes' | 'name'>} known @returns {Promise<Device>} a device that is not registered yet */
  async function newDevice({ id, bytes, name }) {
    const group = groupOf(bytes, groups);
    const retiredAt = await retry.run(() => store.retiredAt({ group, bytes }));
    return blankDevice({ id, bytes, group, name, retiredAt });
  }

  /** @param {Pick<Device, 'id' | 'bytes' | 'name'>} identity @returns {Promise<Device>} */
  async function registerDevice(identity) {
    if (devices >= limits.autoRegisterMax) throw new MillraceError('registration_limit');
    devices++;
    const device = await newDevice(identity);
    const change = { name: device.name ?? undefined, registeredAt: clock() };
    await retry.run(() => store.writeDevice(device, change, firstMessageStamp(device)));
    cache.keep(device);
    return device;
  }

  /**
   * @param {Device} known the device as it was when the message looked up its sensors
   * @param {string[]} refs of sensors that were unknown then
   * @returns {Promise<Device>} the current device, with as many of these sensors as it has room for
   */
  async function registerSensors(known, refs) {
    // Meanwhile a birth or the TTL may have replaced the cache entry, or the device was retired. The old entry must not return.
    const device = (await find(known)) ?? (await registerDevice(known));
    const now = clock();
    /** @type {Map<string, Identity>} */
    const missing = new Map();
    for (const ref of refs) {
      const identity = identifySensor(device.id, ref);
      if (!identity || device.sensors.has(identity.id)) continue;
      // A message may refer to a sensor by id and by name. The name contains more information.
      if (identity.name !== null || !missing.has(identity.id)) missing.set(identity.id, identity);
    }
    const fresh = [...missing.values()].slice(0, Math.max(0, MAX_SENSORS_PER_DEVICE - device.sensors.size));
    if (fresh.length === 0) return device;
    const changes = fresh.map(({ bytes, name }) => ({
      bytes,
      deviceName: device.name ?? undefined,
      name: name ?? undefined,
      site: device.site ?? undefined,
      registeredAt: now,
      writeTimestamp: firstMessageStamp(device),
    }));
    await writeSensors(device, changes, now);
    for (const { id, bytes, name } of fresh) {
      const { name: deviceName, site } = device;
      device.sensors.set(id, blankSensor({ id, bytes, deviceName, name, site }));
    }
    cache.keep(device);
    return device;
  }

  return {
    cache,
    find,
    newDevice,
    serialize,
    writeSensors,

    /** Counts the registered devices. Later this process only counts its own registrations, so the limit is approximate. */
    async start() {
      devices = await store.countDevices(groups);
    },

    /**
     * @param {Identity} identity
     * @returns {Promise<Device | null>} null: it is unknown, and AUTO_REGISTER is off
     * @throws {MillraceError} `registration_limit`
     */
    async device(identity) {
      const known = cache.peek(identity.id);
      if (known) return known;
      const found = await find(identity);
      if (found || !limits.autoRegister) return found;
      return serialize(identity.id, async () => cache.peek(identity.id) ?? registerDevice(identity));
    },

    /**
     * Reads the current state from the database, because another process may have retired the device.
     *
     * @param {Pick<Device, 'id' | 'bytes'>} identity
     * @returns {Promise<Device | null>}
     */
    async findNow(identity) {
      const known = cache.peek(identity.id);
      if (!known) return find(identity);
      const row = await retry.run(() => store.device(known));
      if (row?.retiredAt === known.retiredAt) return known;
      cache.forget(identity.id);
      return find(identity);
    },

    /** Called by a birth that registers a device. */
    countDevice: () => {
      devices++;
    },

    /** Called by the retirement of a device. */
    uncountDevice: () => {
      devices--;
    },

    /** A cached device, by its id. */
    known: cache.peek,

    /** A cached sensor, by the id or name in a message. */
    sensor: sensorOf,

    /**
     * Registers the unknown sensors of a message.
     *
     * @param {Device} device
     * @param {string[]} missing
     * @returns {Promise<{ known: Map<string, Sensor>, refused: Map<string, ErrorCode> }>}
     */
    async register(device, missing) {
      /** @type {Map<string, Sensor>} */
      const known = new Map();
      /** @type {Map<string, ErrorCode>} */
      const refused = new Map();
      const grown = limits.autoRegister
        ? await serialize(device.id, () => registerSensors(device, missing))
        : device;
      for (const ref of missing) {
        const sensor = sensorOf(grown, ref);
        if (sensor) known.set(ref, sensor);
        else if (!identifySensor(device.id, ref)) refused.set(ref, 'bad_id');
        else refused.set(ref, limits.autoRegister ? 'registration_limit' : 'unknown_sensor');
      }
      return { known, refused };
    },
  };
}

/** @typedef {ReturnType<typeof createRegistry>} Registry */

/** Concurrent requests of one registration. A birth of 10,000 sensors must not block all other messages. */
const WRITES_AT_ONCE = 16;

/**
 * Commits the registration of sensors. Each request is retried alone, because 10,000 sensors of different types need 10,000 requests.
 *
 * @param {object} deps
 * @param {RegistryStore} deps.store
 * @param {Retry} deps.retry
 * @param {() => number} deps.clock epoch ms
 */
function createSensorWriter({ store, retry, clock }) {
  /** @param {PartitionWrite[]} writes */
  const commit = (writes) =>
    someAtOnce(WRITES_AT_ONCE, writes, (write) => retry.run(() => store.commit(write)));

  return {
    /**
     * @param {Device} device
     * @param {SensorChange[]} changes
     * @param {number} now epoch ms
     * @returns {Promise<void>} settles when all rows are committed
     */
    async write(device, changes, now) {
      const { indexes, sensors } = store.sensorWrites(device, changes, now);
      await commit(indexes);
      await commit(sensors);
      // Written after the sensors: a reader that sees this time and counts again also sees the new sensors.
      await retry.run(() => store.writeSensorsAt(device, clock()));
    },
  };
}

/** @typedef {ReturnType<typeof createSensorWriter>} SensorWriter */

/**
 * Retires devices: removes them from the registry. Another process may accept a cached device for up to ten minutes. This process
 * removes it from its cache at once.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {RetirementStore} deps.store
 * @param {number} deps.groups
 * @param {() => number} deps.clock epoch ms
 */
export function createRetirement({ registry, store, groups, clock }) {
  return {
    /**
     * @param {Identity} identity
     * @returns {Promise<boolean>} settles when the device is removed; false: it was not registered
     * @throws {MillraceError} `unavailable`: a second call finishes the removal
     */
    retire: ({ id, bytes }) =>
      registry.serialize(id, async () => {
        try {
          const isRetired = await store.retire({ group: groupOf(bytes, groups), bytes }, clock());
          if (isRetired) registry.uncountDevice();
          return isRetired;
        } finally {
          registry.cache.forget(id);
        }
      }),
  };
}

/** @typedef {ReturnType<typeof createRetirement>} Retirement */
